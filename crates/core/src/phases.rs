//! The phases of a protocol: their names in the log, and what readers are told of them.

/// What never changes about a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseInfo {
    /// Its name in the log: `debate`.
    pub name: &'static str,
    /// The heading of its transcript: "Arguments".
    pub title: &'static str,
    /// What a single seat does in it, after the seat's name: "argues".
    pub one_seat: &'static str,
    /// What several seats do in it: "argue".
    pub many_seats: &'static str,
    /// Whether seats take their first positions in it.
    pub takes_first_positions: bool,
    /// Whether it comes after the last round. A branch never copies such a phase, and the engine keeps a share of every limit
    /// for it.
    pub is_closing: bool,
    /// Whether it belongs to no round, whatever number it has.
    pub is_outside_rounds: bool,
    /// Whether a seat that asks for something to be looked up in it is asked again with what was found. Set it where the seats may
    /// have no say after the phase. Before closing phases without the seat, and before the end, that is so in any case.
    pub is_asked_again: bool,
    /// Whether it only looks something up or computes it, so that nobody speaks. `one_seat` is then the whole sentence.
    pub is_lookup: bool,
}

impl PhaseInfo {
    /// A phase within a round.
    pub const fn new(
        name: &'static str,
        title: &'static str,
        one_seat: &'static str,
        many_seats: &'static str,
    ) -> Self {
        Self {
            name,
            title,
            one_seat,
            many_seats,
            takes_first_positions: false,
            is_closing: false,
            is_outside_rounds: false,
            is_asked_again: false,
            is_lookup: false,
        }
    }

    /// A phase in which something is looked up or computed: `sentence` says what.
    pub const fn lookup(name: &'static str, title: &'static str, sentence: &'static str) -> Self {
        let phase = Self::new(name, title, sentence, sentence);
        Self { is_lookup: true, ..phase }
    }

    /// The same phase, in which seats take their first positions.
    pub const fn first_positions(self) -> Self {
        Self { takes_first_positions: true, ..self }
    }

    /// The same phase, after the last round.
    pub const fn closing(self) -> Self {
        Self { is_closing: true, ..self }
    }

    /// The same phase, asked again of seats that asked for something to be looked up.
    pub const fn asked_again(self) -> Self {
        Self { is_asked_again: true, ..self }
    }

    /// The same phase, outside the rounds.
    pub const fn outside_rounds(self) -> Self {
        Self { is_outside_rounds: true, ..self }
    }
}

/// Declares the phases of a protocol as an enum, with what readers are told of each.
///
/// ```
/// use agon_core::PhaseInfo;
/// agon_core::protocol_phases! {
///     /// The phases of an example.
///     pub enum ExamplePhase {
///         Answer => PhaseInfo::new("answer", "First answers", "answers", "answer, each on its own").first_positions(),
///         Synthesis => PhaseInfo::new("synthesis", "Synthesis", "writes the verdict", "write the verdict").closing(),
///     }
/// }
/// assert_eq!(ExamplePhase::parse("synthesis"), Some(ExamplePhase::Synthesis));
/// assert!(ExamplePhase::Synthesis.info().is_closing);
/// assert_eq!(ExamplePhase::Answer.at(0).name, "answer");
/// ```
#[macro_export]
macro_rules! protocol_phases {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($variant:ident => $info:expr),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $name { $(#[doc = stringify!($variant)] $variant,)+ }

        #[allow(dead_code, reason = "not every protocol needs every reading of its phases")]
        impl $name {
            /// What readers are told of the phases, in order.
            $vis const INFO: &'static [$crate::PhaseInfo] = &[$($info),+];
            const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The phase of this name.
            $vis fn parse(name: &str) -> Option<Self> {
                let place = Self::INFO.iter().position(|info| info.name == name)?;
                Self::ALL.get(place).copied()
            }

            /// The phase of a turn of the log.
            $vis fn of(phase: &$crate::Phase) -> Result<Self, $crate::Corrupt> {
                Self::parse(&phase.name).ok_or_else(|| $crate::Corrupt::UnknownPhase {
                    phase: phase.name.clone(),
                    protocol: stringify!($name).trim_end_matches("Phase").to_lowercase(),
                })
            }

            /// What readers are told of it.
            $vis fn info(self) -> &'static $crate::PhaseInfo {
                Self::INFO.get(self as usize).unwrap_or(&Self::INFO[0])
            }

            /// Its name in the log.
            $vis fn as_str(self) -> &'static str {
                self.info().name
            }

            /// The phase in this round.
            $vis fn at(self, round: u32) -> $crate::Phase {
                $crate::Phase::new(self.as_str(), round)
            }
        }
    };
}
