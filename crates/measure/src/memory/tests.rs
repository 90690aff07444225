//! "Memory promotion, decay and demotion against closed forms with a simulated clock."

use proptest::prelude::*;

use super::*;

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// Some moment.
const NOW: i64 = 1_800_000_000;

fn item(tier: Tier, surprise: f64) -> Item {
    Item { tier, surprise, confidence: 0.5, seen: 1, since_s: NOW }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

/// "Half-lives 1 h, 24 h, 7 d, 30 d".
#[test]
fn half_of_it_is_left_after_a_half_life() {
    for (tier, half_life_s) in
        [(Tier::Fast, HOUR), (Tier::Medium, DAY), (Tier::Slow, 7 * DAY), (Tier::Glacial, 30 * DAY)]
    {
        let item = item(tier, 0.3);
        assert_eq!(weight(&item, NOW), 1.0);
        assert!(near(weight(&item, NOW + half_life_s), 0.5), "{tier:?}");
        assert!(near(weight(&item, NOW + 3 * half_life_s), 0.125), "{tier:?}");
        assert!(near(weight(&item, NOW + half_life_s / 2), 0.5_f64.sqrt()), "{tier:?}");
        assert_eq!(Tier::named(tier.name()), Some(tier));
    }
    assert_eq!(Tier::named("eternal"), None);
}

/// "Search scores by similarity, tier decay and confidence."
#[test]
fn the_score_is_similarity_times_weight_times_confidence() {
    let sure = Item { confidence: 1.0, ..item(Tier::Medium, 0.3) };
    let unsure = Item { confidence: 0.0, ..sure };
    assert!(near(score(0.8, &sure, NOW + DAY), 0.4));
    assert!(near(score(0.8, &unsure, NOW + DAY), 0.2));
    assert_eq!(score(0.0, &sure, NOW), 0.0);
}

/// "An item moves up by surprise and down when it stops surprising": at the thresholds and on both sides of them.
#[test]
fn a_surprise_of_a_half_moves_up_and_one_of_a_fifth_down() {
    use Tier::{Fast, Glacial, Medium, Slow};
    for (surprise, ups) in [
        (0.5, [Medium, Slow, Glacial, Glacial]),
        (0.500_001, [Medium, Slow, Glacial, Glacial]),
        (0.499_999, [Fast, Medium, Slow, Glacial]),
        (0.200_001, [Fast, Medium, Slow, Glacial]),
        (0.2, [Fast, Fast, Medium, Slow]),
        (0.199_999, [Fast, Fast, Medium, Slow]),
    ] {
        for (from, to) in Tier::ALL.into_iter().zip(ups) {
            // An observation that is off by the mean leaves the mean as it is.
            let after = item(from, surprise).observed(surprise, 0.0, NOW + 60);
            assert_eq!(after.tier, to, "{surprise} in {from:?}");
            assert!(near(after.surprise, surprise));
            assert_eq!((after.since_s, after.seen), (NOW + 60, 2));
        }
    }
}

/// "Running mean with weight 0.5": after n observations that are all off by d, the mean is d + (s - d) / 2^n.
#[test]
fn the_surprise_is_a_running_mean() {
    let (start, off) = (0.35, 0.3);
    let mut seen = item(Tier::Slow, start);
    for n in 1..=20 {
        seen = seen.observed(off, 0.0, NOW + n);
        assert!(near(seen.surprise, off + (start - off) / 2_f64.powi(n as i32)), "after {n}");
        assert_eq!(seen.tier, Tier::Slow, "neither surprising nor expected");
    }
    assert_eq!(seen.seen, 21);
}

/// "A new item starts in `fast`"; what it is made from is its first observation.
#[test]
fn a_new_memory_starts_fast_and_moves_by_what_it_is_made_from() {
    let new = Item::new(0.9, NOW);
    assert_eq!((new.tier, new.seen, new.surprise, new.confidence), (Tier::Fast, 0, 0.0, 0.9));
    let (lost, won) = (new.observed(0.9, 0.0, NOW), new.observed(0.9, 1.0, NOW));
    assert_eq!((lost.tier, lost.seen), (Tier::Medium, 1));
    assert!(near(lost.surprise, 0.9));
    assert_eq!((won.tier, won.seen), (Tier::Fast, 1));
    assert!(near(won.surprise, 0.1));
}

/// "Goes down one tier at the moment that happened": four half-lives after it last changed, and not a second before.
#[test]
fn a_memory_that_nobody_came_back_to_sinks_tier_by_tier_until_it_is_forgotten() {
    let glacial = item(Tier::Glacial, 0.9);
    let mut leaves_s = NOW;
    for (tier, below) in [
        (Tier::Glacial, Some(Tier::Slow)),
        (Tier::Slow, Some(Tier::Medium)),
        (Tier::Medium, Some(Tier::Fast)),
        (Tier::Fast, None),
    ] {
        let entered_s = leaves_s;
        leaves_s += 4 * tier.half_life_s();
        let last = glacial.at(leaves_s).unwrap();
        assert_eq!((last.tier, last.since_s), (tier, entered_s), "still there");
        assert!(near(weight(&last, leaves_s), 1.0 / 16.0), "at the threshold");
        let next = glacial.at(leaves_s + 1);
        assert_eq!(next.map(|item| (item.tier, item.since_s)), below.map(|tier| (tier, leaves_s)));
    }
    assert_eq!(leaves_s - NOW, 120 * DAY + 28 * DAY + 4 * DAY + 4 * HOUR);
    assert_eq!(glacial.at(NOW - 5), Some(glacial), "a clock that was set back forgets nothing");
}

/// What time did before an observation counts: it is observed where it is by then.
#[test]
fn an_observation_finds_the_memory_where_time_has_left_it() {
    let slow = item(Tier::Slow, 0.9);
    let later_s = NOW + 28 * DAY + 1;
    let seen = slow.observed(0.9, 0.0, later_s);
    assert_eq!((seen.tier, seen.since_s), (Tier::Slow, later_s), "down to medium by time, up by surprise");
    let forgotten_s = NOW + 4 * HOUR + 1;
    let anew = item(Tier::Fast, 0.9).observed(0.3, 0.0, forgotten_s);
    assert_eq!(
        (anew.tier, anew.seen, anew.surprise),
        (Tier::Fast, 1, 0.3),
        "of what was forgotten nothing is left"
    );
}

/// Who predicted nothing was not surprised, but what comes up again is not forgotten.
#[test]
fn a_memory_that_comes_up_again_lasts_from_then() {
    let slow = item(Tier::Slow, 0.9);
    assert_eq!(slow.met(NOW + DAY), Item { since_s: NOW + DAY, ..slow });
    let sunk = slow.met(NOW + 29 * DAY);
    assert_eq!((sunk.tier, sunk.since_s, sunk.surprise), (Tier::Medium, NOW + 29 * DAY, 0.9));
    let anew = item(Tier::Fast, 0.9).met(NOW + DAY);
    assert_eq!(anew, Item::new(0.5, NOW + DAY), "of what was forgotten nothing is left but how sure it was");
}

#[test]
fn what_is_no_share_is_taken_for_one() {
    let odd = Item::new(f64::NAN, NOW).observed(f64::INFINITY, -3.0, NOW);
    assert_eq!((odd.confidence, odd.surprise), (1.0, 1.0));
    let none = Item::new(f64::NAN, NOW).observed(f64::NAN, 0.0, NOW);
    assert_eq!((none.confidence, none.surprise), (0.0, 0.0));
}

fn any_item() -> impl Strategy<Value = Item> {
    let tier = prop::sample::select(Tier::ALL.to_vec());
    (tier, 0.0..=1.0, 0.0..=1.0, 0_u32..9, -DAY..DAY).prop_map(|(tier, surprise, confidence, seen, age_s)| {
        Item { tier, surprise, confidence, seen, since_s: NOW + age_s }
    })
}

proptest! {
    /// In one step or in many.
    #[test]
    fn to_look_often_changes_nothing(item in any_item(), mut steps in prop::collection::vec(0..200 * DAY, 1..8)) {
        steps.sort_unstable();
        let mut seen = Some(item);
        for step_s in &steps {
            seen = seen.and_then(|item| item.at(NOW + step_s));
            prop_assert_eq!(seen, item.at(NOW + step_s));
        }
    }

    /// What is remembered has a weight of 1/16 at least, which falls while it stays in its tier.
    #[test]
    fn a_weight_is_a_share_and_falls_with_time(item in any_item(), ages in (0..200 * DAY, 0..200 * DAY)) {
        let (early_s, late_s) = (NOW + ages.0.min(ages.1), NOW + ages.0.max(ages.1));
        if let Some(item) = item.at(late_s) {
            let weight = weight(&item, late_s);
            prop_assert!((1.0 / 16.0..=1.0).contains(&weight), "{}", weight);
            let score = score(0.7, &item, late_s);
            prop_assert!(score > 0.0 && score <= 0.7);
        }
        let within = |moment_s: i64| moment_s.min(item.since_s + 100 * HOUR);
        let (early, late) = (weight(&item, within(early_s)), weight(&item, within(late_s)));
        prop_assert!(late > 0.0 && late <= early && early <= 1.0);
    }

    /// One observation moves a memory by one tier at most, and its surprise stays a share.
    #[test]
    fn an_observation_moves_by_one_tier_at_most(item in any_item(), p in 0.0..=1.0, o in 0.0..=1.0) {
        let now_s = item.since_s + 60;
        let after = item.observed(p, o, now_s);
        prop_assert!((0.0..=1.0).contains(&after.surprise));
        prop_assert!((after.tier as i32 - item.tier as i32).abs() <= 1);
        prop_assert_eq!(after.tier > item.tier, after.surprise >= 0.5 && item.tier != Tier::Glacial);
        prop_assert_eq!(after.tier < item.tier, after.surprise <= 0.2 && item.tier != Tier::Fast);
    }
}
