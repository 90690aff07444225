#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    agon_models::fuzzing::scripts(bytes);
    agon_protocols::fuzzing::named_lists(bytes);
});
