"""Debates as models, seen by the official client: `openai_client.py BASE_URL TOKEN`."""

import sys

import openai

base_url, token = sys.argv[1:]
client = openai.OpenAI(base_url=base_url, api_key=token)
messages = [
    {"role": "system", "content": "Answer briefly."},
    {"role": "user", "content": "Which editor?"},
    {"role": "assistant", "content": "Any editor."},
    {"role": "user", "content": [{"type": "text", "text": "Tabs or spaces?"}]},
]

names = [model.id for model in client.models.list()]
assert "agon/deep" in names and "agon/ask" in names, names

whole = client.chat.completions.create(model="agon/deep", messages=messages, temperature=0.2)
assert whole.choices[0].message.content and whole.choices[0].finish_reason == "stop", whole
assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens > 0, whole
assert whole.agon["id"] == whole.id and whole.agon["state"] == "complete", whole.agon
assert set(whole.agon) >= {"id", "state", "dissent", "cost", "receipt"}, whole.agon

reasoning, content, last, usage = "", "", None, None
with client.chat.completions.create(
    model="agon/deep",
    messages=messages,
    stream=True,
    stream_options={"include_usage": True},
    extra_body={"agon": {"options": {"max_rounds": 2}, "limits": {"max_calls": 60}}},
) as stream:
    for chunk in stream:
        last, usage = chunk, chunk.usage or usage
        for choice in chunk.choices:
            reasoning += getattr(choice.delta, "reasoning_content", None) or ""
            content += choice.delta.content or ""
assert "Round 1" in reasoning and content and usage.total_tokens > 0, (reasoning, content, usage)
assert last.agon["id"] == last.id, last

raw = client.chat.completions.with_raw_response.create(model="agon/deep", messages=messages)
assert raw.headers["x-agon-debate-id"] == raw.parse().id


def refused(error, code, client=client, **request):
    try:
        client.chat.completions.create(**{"model": "agon/deep", "messages": messages, **request})
    except error as why:
        assert why.code == code and why.message, why
    else:
        raise AssertionError(f"{request} was not refused")


refused(openai.NotFoundError, "model_not_found", model="gpt-9")
refused(openai.BadRequestError, "invalid_request", n=2)
refused(openai.BadRequestError, "invalid_request", extra_body={"agon": {"models": ["command/x"]}})
refused(openai.AuthenticationError, "invalid_api_key", openai.OpenAI(base_url=base_url, api_key="wrong-token-0123456789"))
refused(openai.InternalServerError, "debate_in_debate", extra_headers={"X-Agon-Debate": "k3v9q2"})
