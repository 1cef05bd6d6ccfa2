"""The JSON of the commands, against the schema in docs/schema.json."""

import copy
import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from export_profiles import PROFILES, big, golden, hostile, roots, run

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schema.json").read_text())

COMMANDS = {
    "report": [["report"], ["report", "--by", "region"], ["report", "--rank", "0"], ["report", "--metric", "visits"]],
    "tree": [["tree"], ["tree", "--metric", "exclusive"]],
    "top": [["top"], ["top", "--by", "region"]],
    "mpi": [["mpi"]],
}


def strict(schema):
    """The schema without room for keys that it does not have, so that every key must be described."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: strict(value) for key, value in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        schema["additionalProperties"] = False
    return schema


def check(name, output, schema=SCHEMA):
    validator = jsonschema.Draft202012Validator(strict({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]}))
    validator.validate(output)


def output(*arguments):
    return json.loads(run(*arguments, "--json")[0])


def measured(tmp_path):
    """A profile with messages, of a run whose overhead is known."""
    profile = tmp_path / "measured.tprof"
    shutil.copytree(PROFILES / "format-1.1", profile)
    manifest = json.loads((profile / "manifest.json").read_text())
    manifest["metadata"]["tinyprof_version"] = "0.1.0"
    (profile / "manifest.json").write_text(json.dumps(manifest))
    assert json.loads(run("report", profile, "--json")[0])["overhead"] is not None
    return profile


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("made", [measured, hostile, big, roots])
@pytest.mark.parametrize("name", COMMANDS)
def test_each_output_is_described_by_the_schema(name, made, tmp_path):
    profile = made(tmp_path)
    for command, *options in COMMANDS[name]:
        found = output(command, profile, *options)
        check(name, found)
        jsonschema.validate(found, SCHEMA)


@pytest.mark.parametrize("options", [[], ["--metric", "visits", "--fail-above", "5%"], ["--estimator", "min"]])
def test_a_comparison_is_described_by_the_schema(options, tmp_path):
    for profiles in [["--base", golden(), "--new", golden()], ["--base", golden(), golden(), "--new", hostile(tmp_path)]]:
        found = output("diff", *profiles, *options)
        check("diff", found)
        jsonschema.validate(found, SCHEMA)


def test_a_missing_or_unknown_key_or_another_type_is_noticed():
    report = output("report", golden())
    for change in [
        lambda json: json.pop("hosts"),
        lambda json: json.update(more=1),
        lambda json: json["callpaths"][0].update(visits="2"),
        lambda json: json["callpaths"][0]["inclusive_ns"].pop("max_rank"),
        lambda json: json.update(schema_version=2),
    ]:
        changed = copy.deepcopy(report)
        change(changed)
        with pytest.raises(jsonschema.ValidationError):
            check("report", changed)
