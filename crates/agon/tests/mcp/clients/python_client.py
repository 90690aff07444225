"""Uses every tool of Agon through the official Python SDK: python_client.py legacy|auto PROGRAM|URL"""

import asyncio
import os
import sys

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

MODE, TARGET = sys.argv[1:3]


def target():
    if TARGET.startswith("http"):
        return TARGET
    return StdioServerParameters(command=TARGET, args=["mcp"], env=dict(os.environ))


forms = []


async def fill_in(context, params):
    """A person who always answers the same."""
    forms.append(params.message)
    fields = params.requested_schema["properties"]
    return ElicitResult(action="accept", content={name: fitting(field) for name, field in fields.items()})


def fitting(field):
    if "enum" in field:
        return field["enum"][0]
    return {"number": 0.5, "integer": 3, "boolean": True}.get(field["type"], "Tabs")


async def told(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert result.content[0].text
    return result.structured_content


async def main():
    async with Client(target(), mode=MODE, elicitation_callback=fill_in) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == 8, tools
        progress = []

        async def note(done, total, message):
            progress.append(message)

        call = {"question": "Tabs or spaces?", "models": ["script/demo-deep"]}
        result = await client.call_tool("debate", call, progress_callback=note)
        over = result.structured_content
        assert over["state"] == "complete" and over["answer"], over
        assert len(result.content[0].text) / 3 < 2000

        early = await told(client, "debate", question="Tabs or spaces?", models=["script/demo-deep"], wait_s=0)
        late = await told(client, "debate_wait", id=early["id"], wait_s=60)
        assert late["state"] == "complete", late

        seat = await told(client, "debate", question="Tabs?", protocol="poll", models=["caller"])
        assert seat["state"] == "waiting", seat
        while seat.get("waiting"):
            ask = seat["waiting"][0]
            fields = ask["schema"]["properties"]
            value = {name: fitting(field) if "type" in field else None for name, field in fields.items()}
            seat = await told(client, "debate_answer", id=seat["id"], ask=ask["ask"], value=value)
        assert seat["state"] == "complete", seat

        anna = await told(client, "debate", question="Tabs?", protocol="poll", models=["human/anna"])
        assert anna["state"] == "complete", anna
        assert forms, "a person is asked in a form"

        shown = await client.call_tool("debate_show", {"id": over["id"], "part": "answer"})
        assert shown.content[0].text
        assert (await told(client, "search_debates", query="tabs"))["debates"]
        assert "people" in await told(client, "list_models")
        refused = await client.call_tool("debate", {"question": "x", "models": ["command/rm"]})
        assert refused.is_error, refused

        for ending in ["", "/log", "/receipt"]:
            contents = (await client.read_resource(over["uri"] + ending)).contents
            assert contents[0].text
        assert len((await client.list_prompts()).prompts) == 3
        assert (await client.get_prompt("debate", {"question": "Why?"})).messages
    print("all is well")


asyncio.run(main())
