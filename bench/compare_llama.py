"""llama.cpp beside the embedded model. `bench/embedded.rs` starts it and says how.

Usage: compare_llama.py FILE.gguf THREADS, with a JSON object on each line of the input: {"prompt": "...", "output_tokens": 100}.
Each is answered with a line: the tokens and the milliseconds of reading and of writing, as llama.cpp itself has counted them.
"""

import json
import sys

import llama_cpp
import numpy

CONTEXT_TOKENS = 4096

model = llama_cpp.Llama(
    sys.argv[1],
    n_ctx=CONTEXT_TOKENS,
    n_threads=int(sys.argv[2]),
    n_threads_batch=int(sys.argv[2]),
    verbose=False,
)
vocabulary_tokens = model.n_vocab()
print(llama_cpp.llama_print_system_info().decode(), flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    tokens = model.tokenize(ask["prompt"].encode(), add_bos=False, special=True)
    model.reset()
    llama_cpp.llama_perf_context_reset(model.ctx)
    model.eval(tokens)
    for _ in range(ask["output_tokens"]):
        logits = llama_cpp.llama_get_logits_ith(model.ctx, -1)
        model.eval([int(numpy.ctypeslib.as_array(logits, (vocabulary_tokens,)).argmax())])
    # Otherwise the time until the next prompt counts as time of reading it.
    llama_cpp.llama_synchronize(model.ctx)
    counted = llama_cpp.llama_perf_context(model.ctx)
    figures = [counted.n_p_eval, counted.t_p_eval_ms, counted.n_eval, counted.t_eval_ms]
    print(json.dumps(figures), flush=True)
