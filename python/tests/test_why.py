"""Why a run takes as long as it does, and what rules add to it."""

from __future__ import annotations

import pytest

import tinyprof
from conftest import VERSIONS, frozen

RULE = """
[[rule]]
name = "of_ours"
for = "run"
when = "run.ranks >= 1.0"
seconds = "run.seconds"
text = "{run.ranks} ranks"
advice = "take more"
"""


def test_rules_of_a_file_add_findings(tmp_path):
    profile = tinyprof.read(frozen(VERSIONS[-1]))
    rules = tmp_path / "our.toml"
    rules.write_text(RULE)
    kinds = [finding["kind"] for finding in profile.why(rules=[rules])["findings"]]
    assert "of_ours" in kinds
    assert "of_ours" not in [finding["kind"] for finding in profile.why()["findings"]]


def test_a_rule_that_is_wrong_is_left_out_with_a_warning(tmp_path):
    profile = tinyprof.read(frozen(VERSIONS[-1]))
    rules = tmp_path / "our.toml"
    rules.write_text(RULE.replace("run.ranks >=", "run.rank >="))
    with pytest.warns(UserWarning, match="did you mean"):
        said = profile.why(rules=[rules])
    assert said == profile.why()
