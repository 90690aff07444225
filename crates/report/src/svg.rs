//! Helpers for SVG drawings.

/// The background and text colours of a picture outside a page, for light and dark.
pub(crate) const PICTURE_STYLES: &str = "svg{background:#fff;color:#222}\
    @media (prefers-color-scheme:dark){svg{background:#16181d;color:#ddd}}text{fill:currentColor}";

/// A coordinate, to a tenth of a unit.
pub(crate) fn px(value: f64) -> String {
    format!("{value:.1}")
}

/// A label, cut with an ellipsis if it is too long.
pub(crate) fn cut_label(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
            format!("{}\u{2026}", kept.trim_end())
        }
    }
}
