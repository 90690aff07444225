//! The audit of a vote.

use agon_measure::audit::VoteAudit;
use agon_measure::audit::votes::{AgreementGate, VoteAccuracy};

use super::{
    bracket, end, end_points, four, heatmap, known, paragraph, percent, points, range, row, section,
    small_print, together, voices,
};
use crate::TerminalStyle;
use agon_core::wording::{count, counted, number_word};

/// A difference with a lower p-value is reported as shown.
const SIGNIFICANT_P: f64 = 0.05;
/// The most gates that are shown.
const GATES_MAX: usize = 6;

/// The audit of a vote, for a terminal.
pub fn votes(audit: &VoteAudit, style: &TerminalStyle) -> String {
    let mut shown = String::new();
    match &audit.right {
        Some(right) => shown.push_str(&paragraph(&meaning(audit, right), style)),
        None => shown.push_str(&paragraph(&without_gold(audit), style)),
    }
    for note in &audit.notes {
        shown.push_str(&paragraph(note, style));
    }
    let questions = format!(
        "{} of {} rows, which all {} were asked",
        count(audit.questions as u64),
        count(audit.rows as u64),
        audit.models.len()
    );
    let drawn = format!("intervals from {}", counted(u64::from(audit.bootstrap.resamples), "resample"));
    shown.push_str(&small_print(&[questions, drawn, format!("seed {}", audit.bootstrap.seed)], style));
    shown.push_str(&section("The vote", &figures(audit), style));
    if let Some(right) = &audit.right {
        shown.push_str(&section("Each alone", &alone(right), style));
        shown.push_str(&together(&right.correlation, &audit.models, style));
    }
    shown.push_str(&gates(audit, style));
    shown
}

/// The error correlations as a picture or, without right answers, how often each pair agrees.
pub fn votes_svg(audit: &VoteAudit) -> String {
    match &audit.right {
        Some(right) => heatmap(&right.correlation, &audit.models, "Error correlation"),
        None => {
            let shares: Vec<Vec<Option<f64>>> =
                audit.agreement.iter().map(|row| row.iter().copied().map(Some).collect()).collect();
            heatmap(&shares, &audit.models, "Share of questions answered alike")
        }
    }
}

fn meaning(audit: &VoteAudit, right: &VoteAccuracy) -> String {
    let models = audit.models.len();
    let voices = voices(models, "models", right.n_eff, right.mean_rho).unwrap_or_else(|| {
        let who = number_word(models);
        format!("Whether these {who} models err together cannot be said: no two of them are sometimes right and sometimes wrong.")
    });
    let vote = format!(
        "A plain vote is right {}{} of the time, {}.",
        percent(right.plurality),
        bracket(audit.intervals.get("plurality")),
        gain(audit, right)
    );
    let agreed = right.correct_when_unanimous.map(|share| {
        format!(
            "When all agree, which they do in {} of the questions, they are right {} of the time.",
            percent(audit.unanimous),
            percent(share)
        )
    });
    [Some(voices), Some(vote), agreed].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Whether the vote is better than the best single model, if the difference is significant.
fn gain(audit: &VoteAudit, right: &VoteAccuracy) -> String {
    let (best, points, interval) =
        (&right.best_single_model, right.gain * 100.0, audit.intervals.get("gain"));
    if right.gain_p >= SIGNIFICANT_P {
        let interval = bracket(interval);
        return format!("{points:+.1} points{interval} against the best alone, {best}: not shown to differ");
    }
    if points > 0.0 {
        return format!("{points:.1} points{} better than the best alone, {best}", bracket(interval));
    }
    let less = bracket(interval.map(|(low, high)| (-high, -low)).as_ref());
    format!("{:.1} points{less} worse than the best alone, {best}", -points)
}

fn without_gold(audit: &VoteAudit) -> String {
    format!(
        "A pair of these {} models gives the same answer {}{} of the time, and all of them do in {} of the questions.",
        number_word(audit.models.len()),
        percent(audit.pairwise_agreement),
        bracket(audit.intervals.get("pairwise_agreement")),
        percent(audit.unanimous)
    )
}

fn figures(audit: &VoteAudit) -> Vec<Vec<String>> {
    let interval = |name: &str| audit.intervals.get(name);
    let share =
        |what: &str, name: &str, value: f64| row([what, &percent(value), &range(interval(name), end)]);
    let number = |what: &str, name: &str, value: Option<f64>| {
        row([what, &known(value, four), &range(interval(name), four)])
    };
    let mut rows = vec![row(["figure", "value", "95% interval"])];
    if let Some(right) = &audit.right {
        rows.extend([
            number("mean error correlation", "mean_rho", right.mean_rho),
            number("independent voices", "n_eff", right.n_eff),
            share("best alone is right", "best_single", right.best_single),
            share("plurality is right", "plurality", right.plurality),
            row([
                "plurality less the best, points",
                &points(right.gain),
                &range(interval("gain"), end_points),
            ]),
            row(["such a difference by chance", &chance(right.gain_p), ""]),
            share("at least one is right", "oracle", right.oracle),
        ]);
    }
    rows.push(share("all agree", "unanimous", audit.unanimous));
    if let Some(right) = &audit.right {
        let when = right.correct_when_unanimous;
        rows.push(row([
            "right when all agree",
            &known(when, percent),
            &range(interval("correct_when_unanimous"), end),
        ]));
    }
    rows.extend([
        share("two agree", "pairwise_agreement", audit.pairwise_agreement),
        share("the vote is tied", "tied", audit.tied),
        number("entropy of the answers, bits", "entropy", Some(audit.entropy)),
    ]);
    rows
}

fn chance(p: f64) -> String {
    if p < 0.0001 { "p < 0.0001".into() } else { format!("p = {p:.4}") }
}

/// The accuracy of each model, the best first.
fn alone(right: &VoteAccuracy) -> Vec<Vec<String>> {
    let mut models: Vec<(&String, &f64)> = right.accuracy.iter().collect();
    models.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let of_model = |(model, share): (&String, &f64)| {
        row([model, &percent(*share), &range(right.accuracy_intervals.get(model), end)])
    };
    std::iter::once(row(["model", "right", "95% interval"])).chain(models.into_iter().map(of_model)).collect()
}

/// The requested gate, then the gates that no other gate beats.
fn gates(audit: &VoteAudit, style: &TerminalStyle) -> String {
    let mut shown = String::new();
    if let Some(asked) = &audit.gate {
        let gate = &asked.gate;
        let mut rows = vec![row(["figure", "value", "95% interval"])];
        rows.push(row(["stops", &percent(gate.stops), &range(asked.intervals.get("stops"), end)]));
        rows.push(row(["calls a question", &four(gate.calls), &range(asked.intervals.get("calls"), four)]));
        if let Some(accuracy) = gate.accuracy {
            rows.push(row(["right", &percent(accuracy), &range(asked.intervals.get("accuracy"), end)]));
        }
        let [one, other] = &gate.models;
        let title =
            format!("{one} and {other} agree, else the plurality of {}", number_word(audit.models.len()));
        shown.push_str(&section(&agon_host::clean_line(&title), &rows, style));
    }
    let best = unbeaten(&audit.gates);
    if audit.models.len() < 3 || best.is_empty() {
        return shown;
    }
    let head = std::iter::once(row(["one", "other", "stops", "calls", "right"]));
    let of_gate = |gate: &&AgreementGate| {
        let [one, other] = &gate.models;
        row([one, other, &percent(gate.stops), &format!("{:.2}", gate.calls), &known(gate.accuracy, percent)])
    };
    let rows: Vec<Vec<String>> = head.chain(best.iter().map(of_gate)).collect();
    let title = "Ask two first, the others only if they disagree: the pairs that no other beats";
    shown.push_str(&section(title, &rows, style));
    if audit.right.is_some() {
        let chosen = "They were chosen on these same questions, so expect slightly less on other questions.";
        shown.push_str(&small_print(&[chosen.into()], style));
    }
    shown
}

/// The gates that no other gate beats in both accuracy and calls, most accurate first. If there are too many, the middle ones are
/// omitted.
fn unbeaten(gates: &[AgreementGate]) -> Vec<&AgreementGate> {
    let beats = |other: &AgreementGate, gate: &AgreementGate| {
        other.calls <= gate.calls
            && other.accuracy >= gate.accuracy
            && (other.calls < gate.calls || other.accuracy > gate.accuracy)
    };
    let mut best: Vec<&AgreementGate> =
        gates.iter().filter(|gate| !gates.iter().any(|other| beats(other, gate))).collect();
    best.sort_by(|a, b| {
        b.accuracy
            .partial_cmp(&a.accuracy)
            .unwrap_or(std::cmp::Ordering::Equal)
            .then(a.calls.total_cmp(&b.calls))
    });
    let last = best.len().saturating_sub(1);
    if last < GATES_MAX {
        return best;
    }
    (0..GATES_MAX).filter_map(|step| best.get(step * last / (GATES_MAX - 1)).copied()).collect()
}

#[cfg(test)]
mod tests;
