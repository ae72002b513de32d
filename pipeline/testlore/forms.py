"""Whether values have the forms of ``schemas/``, compiled to plain Python by ``proof/compile_forms.py``."""

from __future__ import annotations

import re
from typing import Any

#: The digests of the schemas that this was compiled from.
COMPILED_FROM = {
    "store": "1a97c9367ffd16772e1190fcdfa55d0c3ddcb97afecd15a99454ab577a9486d4",
    "config": "01fd5b7aa0d731fae715e5a062802165a9d6aa34177247b40c774f029e10a106",
}


def is_store1(value: Any) -> bool:
    """Whether a value has the form of a store1."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"schemaVersion", "records", "integrity"}:
        return False
    if not value.keys() <= {"schemaVersion", "records", "integrity"}:
        return False
    schema_version = value["schemaVersion"]
    if not (schema_version == 1 and not isinstance(schema_version, bool)):
        return False
    records = value["records"]
    if not isinstance(records, list):
        return False
    if not len(records) <= 200:
        return False
    for records_item in records:
        if not is_record1(records_item):
            return False
    integrity = value["integrity"]
    if not isinstance(integrity, str):
        return False
    if not (len(integrity) == 64 and not integrity.strip("0123456789abcdef")):
        return False
    return True


def is_store2(value: Any) -> bool:
    """Whether a value has the form of a store2."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"schemaVersion", "records", "forgotten", "integrity"}:
        return False
    if not value.keys() <= {"schemaVersion", "records", "forgotten", "integrity"}:
        return False
    schema_version = value["schemaVersion"]
    if not (schema_version == 2 and not isinstance(schema_version, bool)):
        return False
    records = value["records"]
    if not isinstance(records, list):
        return False
    if not len(records) <= 200:
        return False
    for records_item in records:
        if not is_record(records_item):
            return False
    forgotten = value["forgotten"]
    if not isinstance(forgotten, list):
        return False
    if not len(forgotten) <= 1000:
        return False
    for forgotten_item in forgotten:
        if not is_tombstone(forgotten_item):
            return False
    integrity = value["integrity"]
    if not isinstance(integrity, str):
        return False
    if not (len(integrity) == 64 and not integrity.strip("0123456789abcdef")):
        return False
    return True


def is_record(value: Any) -> bool:
    """Whether a value has the form of a record."""
    if not isinstance(value, dict):
        return False
    if "schemaVersion" in value:
        schema_version = value["schemaVersion"]
        if not (schema_version in (1, 2) and not isinstance(schema_version, bool)):
            return False
    if "schemaVersion" in value and ("schemaVersion" not in value or (value["schemaVersion"] == 2 and not isinstance(value["schemaVersion"], bool))):
        if not is_record2(value):
            return False
    else:
        if not is_record1(value):
            return False
    return True


def is_record1(value: Any) -> bool:
    """Whether a value has the form of a record1."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"schemaVersion", "id", "candidateId", "createdAt", "manifestHash", "validationHash", "provenance", "framework", "outcome", "tags", "warnings", "context", "evidence", "patterns", "integrity"}:
        return False
    if not value.keys() <= {"schemaVersion", "id", "candidateId", "createdAt", "manifestHash", "validationHash", "provenance", "framework", "outcome", "tags", "warnings", "context", "evidence", "patterns", "integrity"}:
        return False
    schema_version = value["schemaVersion"]
    if not (schema_version == 1 and not isinstance(schema_version, bool)):
        return False
    id = value["id"]
    if not isinstance(id, str):
        return False
    if not (len(id) == 64 and not id.strip("0123456789abcdef")):
        return False
    candidate_id = value["candidateId"]
    if not isinstance(candidate_id, str):
        return False
    if not re.search('^[a-zA-Z0-9][a-zA-Z0-9_-]{0,127}$(?!\n)', candidate_id):
        return False
    created_at = value["createdAt"]
    if not isinstance(created_at, str):
        return False
    if not re.search('^([0-9]{4}|[+-][0-9]{6})-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$(?!\n)', created_at):
        return False
    manifest_hash = value["manifestHash"]
    if not isinstance(manifest_hash, str):
        return False
    if not (len(manifest_hash) == 64 and not manifest_hash.strip("0123456789abcdef")):
        return False
    validation_hash = value["validationHash"]
    if not isinstance(validation_hash, str):
        return False
    if not (len(validation_hash) == 64 and not validation_hash.strip("0123456789abcdef")):
        return False
    provenance = value["provenance"]
    if not is_provenance(provenance):
        return False
    framework = value["framework"]
    if not is_framework(framework):
        return False
    outcome = value["outcome"]
    if not (outcome in ('accepted', 'rejected')):
        return False
    tags = value["tags"]
    if not is_tags(tags):
        return False
    warnings = value["warnings"]
    if not isinstance(warnings, list):
        return False
    for warnings_item in warnings:
        if not (warnings_item in ('review-rejected', 'oracle-missing', 'execution-incomplete', 'execution-failed', 'case-loss', 'held-out-miss', 'undemonstrated-defect', 'other-rejection')):
            return False
    if len(set(warnings)) != len(warnings):
        return False
    context = value["context"]
    if not is_context(context):
        return False
    evidence = value["evidence"]
    if not is_evidence1(evidence):
        return False
    patterns = value["patterns"]
    if not isinstance(patterns, list):
        return False
    if not len(patterns) <= 8:
        return False
    for patterns_item in patterns:
        if not is_pattern(patterns_item):
            return False
    integrity = value["integrity"]
    if not isinstance(integrity, str):
        return False
    if not (len(integrity) == 64 and not integrity.strip("0123456789abcdef")):
        return False
    if ("outcome" not in value or (value["outcome"] == 'rejected')):
        if "patterns" in value:
            patterns = value["patterns"]
            if not len(patterns) <= 0:
                return False
    return True


def is_record2(value: Any) -> bool:
    """Whether a value has the form of a record2."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"schemaVersion", "id", "candidateId", "createdAt", "manifestHash", "validationHash", "provenance", "framework", "outcome", "title", "tests", "subject", "tags", "warnings", "reasons", "context", "evidence", "patterns", "integrity"}:
        return False
    if not value.keys() <= {"schemaVersion", "id", "candidateId", "createdAt", "manifestHash", "validationHash", "provenance", "framework", "outcome", "title", "tests", "subject", "tags", "warnings", "reasons", "context", "evidence", "patterns", "integrity"}:
        return False
    schema_version = value["schemaVersion"]
    if not (schema_version == 2 and not isinstance(schema_version, bool)):
        return False
    id = value["id"]
    if not isinstance(id, str):
        return False
    if not (len(id) == 64 and not id.strip("0123456789abcdef")):
        return False
    candidate_id = value["candidateId"]
    if not isinstance(candidate_id, str):
        return False
    if not re.search('^[a-zA-Z0-9][a-zA-Z0-9_-]{0,127}$(?!\n)', candidate_id):
        return False
    created_at = value["createdAt"]
    if not isinstance(created_at, str):
        return False
    if not re.search('^([0-9]{4}|[+-][0-9]{6})-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$(?!\n)', created_at):
        return False
    manifest_hash = value["manifestHash"]
    if not isinstance(manifest_hash, str):
        return False
    if not (len(manifest_hash) == 64 and not manifest_hash.strip("0123456789abcdef")):
        return False
    validation_hash = value["validationHash"]
    if not isinstance(validation_hash, str):
        return False
    if not (len(validation_hash) == 64 and not validation_hash.strip("0123456789abcdef")):
        return False
    provenance = value["provenance"]
    if not is_provenance(provenance):
        return False
    framework = value["framework"]
    if not is_framework(framework):
        return False
    outcome = value["outcome"]
    if not (outcome in ('accepted', 'rejected')):
        return False
    title = value["title"]
    if not isinstance(title, str):
        return False
    if not len(title) <= 160:
        return False
    if not re.search('^[^\n\r\u2028\u2029]*$(?!\n)', title):
        return False
    tests = value["tests"]
    if not isinstance(tests, list):
        return False
    if not len(tests) <= 20:
        return False
    for tests_item in tests:
        if not is_test(tests_item):
            return False
    subject = value["subject"]
    if not is_subject(subject):
        return False
    tags = value["tags"]
    if not is_tags(tags):
        return False
    warnings = value["warnings"]
    if not isinstance(warnings, list):
        return False
    for warnings_item in warnings:
        if not (warnings_item in ('review-rejected', 'oracle-missing', 'execution-incomplete', 'execution-failed', 'case-loss', 'held-out-miss', 'undemonstrated-defect', 'other-rejection', 'adds-nothing', 'flaky')):
            return False
    if len(set(warnings)) != len(warnings):
        return False
    reasons = value["reasons"]
    if not isinstance(reasons, list):
        return False
    if not len(reasons) <= 20:
        return False
    for reasons_item in reasons:
        if not isinstance(reasons_item, str):
            return False
        if not len(reasons_item) <= 300:
            return False
    context = value["context"]
    if not is_context(context):
        return False
    evidence = value["evidence"]
    if not is_evidence2(evidence):
        return False
    patterns = value["patterns"]
    if not isinstance(patterns, list):
        return False
    if not len(patterns) <= 8:
        return False
    for patterns_item in patterns:
        if not is_pattern(patterns_item):
            return False
    integrity = value["integrity"]
    if not isinstance(integrity, str):
        return False
    if not (len(integrity) == 64 and not integrity.strip("0123456789abcdef")):
        return False
    if ("outcome" not in value or (value["outcome"] == 'rejected')):
        if "patterns" in value:
            patterns = value["patterns"]
            if not len(patterns) <= 0:
                return False
    return True


def is_tombstone(value: Any) -> bool:
    """Whether a value has the form of a tombstone."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"id", "at"}:
        return False
    if not value.keys() <= {"id", "at"}:
        return False
    id = value["id"]
    if not isinstance(id, str):
        return False
    if not (len(id) == 64 and not id.strip("0123456789abcdef")):
        return False
    at = value["at"]
    if not isinstance(at, str):
        return False
    if not re.search('^([0-9]{4}|[+-][0-9]{6})-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$(?!\n)', at):
        return False
    return True


def is_provenance(value: Any) -> bool:
    """Whether a value has the form of a provenance."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"fingerprint", "runner", "servicesHash", "sourceHash"}:
        return False
    if not value.keys() <= {"fingerprint", "runner", "servicesHash", "sourceHash"}:
        return False
    fingerprint = value["fingerprint"]
    if not isinstance(fingerprint, str):
        return False
    if not (len(fingerprint) == 64 and not fingerprint.strip("0123456789abcdef")):
        return False
    runner = value["runner"]
    if not isinstance(runner, str):
        return False
    if not (len(runner) == 64 and not runner.strip("0123456789abcdef")):
        return False
    services_hash = value["servicesHash"]
    if not isinstance(services_hash, str):
        return False
    if not (len(services_hash) == 64 and not services_hash.strip("0123456789abcdef")):
        return False
    source_hash = value["sourceHash"]
    if not isinstance(source_hash, str):
        return False
    if not (len(source_hash) == 64 and not source_hash.strip("0123456789abcdef")):
        return False
    return True


def is_framework(value: Any) -> bool:
    """Whether a value has the form of a framework."""
    if not (value in ('node', 'jest', 'vitest', 'playwright', 'custom', 'pytest', 'unittest')):
        return False
    return True


def is_test(value: Any) -> bool:
    """Whether a value has the form of a test."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"path", "name", "outcome"}:
        return False
    if not value.keys() <= {"path", "name", "outcome"}:
        return False
    path = value["path"]
    if not isinstance(path, str):
        return False
    if not len(path) <= 200:
        return False
    name = value["name"]
    if not isinstance(name, str):
        return False
    if not len(name) <= 200:
        return False
    outcome = value["outcome"]
    if not (outcome in ('passed', 'failed', 'skipped')):
        return False
    return True


def is_subject(value: Any) -> bool:
    """Whether a value has the form of a subject."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"files", "symbols"}:
        return False
    if not value.keys() <= {"files", "symbols"}:
        return False
    files = value["files"]
    if not isinstance(files, list):
        return False
    if not len(files) <= 20:
        return False
    for files_item in files:
        if not isinstance(files_item, dict):
            return False
        if not files_item.keys() >= {"path", "digest"}:
            return False
        if not files_item.keys() <= {"path", "digest"}:
            return False
        path = files_item["path"]
        if not isinstance(path, str):
            return False
        if not len(path) <= 200:
            return False
        digest = files_item["digest"]
        if not isinstance(digest, str):
            return False
        if not (len(digest) == 64 and not digest.strip("0123456789abcdef")):
            return False
    symbols = value["symbols"]
    if not isinstance(symbols, list):
        return False
    if not len(symbols) <= 40:
        return False
    for symbols_item in symbols:
        if not isinstance(symbols_item, str):
            return False
        if not len(symbols_item) <= 80:
            return False
    return True


def is_tags(value: Any) -> bool:
    """Whether a value has the form of a tags."""
    if not isinstance(value, list):
        return False
    for value_item in value:
        if not (value_item in ('boundary', 'error', 'integration', 'async', 'mock', 'table', 'assertion', 'modularization', 'held-out-tested', 'case-preservation')):
            return False
    if len(set(value)) != len(value):
        return False
    return True


def is_context(value: Any) -> bool:
    """Whether a value has the form of a context."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"language", "changedTests", "deletedFiles", "purpose"}:
        return False
    if not value.keys() <= {"language", "changedTests", "deletedFiles", "purpose"}:
        return False
    language = value["language"]
    if not (language in ('javascript', 'typescript', 'mixed', 'python', 'other')):
        return False
    changed_tests = value["changedTests"]
    if not (type(changed_tests) is int or (type(changed_tests) is float and changed_tests.is_integer())):
        return False
    if not changed_tests >= 0:
        return False
    if not changed_tests <= 100:
        return False
    deleted_files = value["deletedFiles"]
    if not (type(deleted_files) is int or (type(deleted_files) is float and deleted_files.is_integer())):
        return False
    if not deleted_files >= 0:
        return False
    if not deleted_files <= 100:
        return False
    purpose = value["purpose"]
    if not (purpose in ('candidate-tests', 'modularization')):
        return False
    return True


def is_evidence1(value: Any) -> bool:
    """Whether a value has the form of a evidence1."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"originalCases", "candidateCases", "passedCases", "failedCases", "missingCases", "demonstratedDefects", "caughtDefects", "complete"}:
        return False
    if not value.keys() <= {"originalCases", "candidateCases", "passedCases", "failedCases", "missingCases", "demonstratedDefects", "caughtDefects", "complete"}:
        return False
    original_cases = value["originalCases"]
    if not (type(original_cases) is int or (type(original_cases) is float and original_cases.is_integer())):
        return False
    if not original_cases >= 0:
        return False
    if not original_cases <= 10000000:
        return False
    candidate_cases = value["candidateCases"]
    if not (type(candidate_cases) is int or (type(candidate_cases) is float and candidate_cases.is_integer())):
        return False
    if not candidate_cases >= 0:
        return False
    if not candidate_cases <= 10000000:
        return False
    passed_cases = value["passedCases"]
    if not (type(passed_cases) is int or (type(passed_cases) is float and passed_cases.is_integer())):
        return False
    if not passed_cases >= 0:
        return False
    if not passed_cases <= 10000000:
        return False
    failed_cases = value["failedCases"]
    if not (type(failed_cases) is int or (type(failed_cases) is float and failed_cases.is_integer())):
        return False
    if not failed_cases >= 0:
        return False
    if not failed_cases <= 10000000:
        return False
    missing_cases = value["missingCases"]
    if not (type(missing_cases) is int or (type(missing_cases) is float and missing_cases.is_integer())):
        return False
    if not missing_cases >= 0:
        return False
    if not missing_cases <= 10000000:
        return False
    demonstrated_defects = value["demonstratedDefects"]
    if not (type(demonstrated_defects) is int or (type(demonstrated_defects) is float and demonstrated_defects.is_integer())):
        return False
    if not demonstrated_defects >= 0:
        return False
    if not demonstrated_defects <= 10000000:
        return False
    caught_defects = value["caughtDefects"]
    if not (type(caught_defects) is int or (type(caught_defects) is float and caught_defects.is_integer())):
        return False
    if not caught_defects >= 0:
        return False
    if not caught_defects <= 10000000:
        return False
    complete = value["complete"]
    if not isinstance(complete, bool):
        return False
    return True


def is_evidence2(value: Any) -> bool:
    """Whether a value has the form of a evidence2."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"originalCases", "candidateCases", "passedCases", "failedCases", "missingCases", "demonstratedDefects", "caughtDefects", "complete", "newCases", "repeats", "closedGaps", "mutants", "caughtMutants", "survivingMutants", "undone"}:
        return False
    if not value.keys() <= {"originalCases", "candidateCases", "passedCases", "failedCases", "missingCases", "demonstratedDefects", "caughtDefects", "complete", "newCases", "repeats", "closedGaps", "mutants", "caughtMutants", "survivingMutants", "undone"}:
        return False
    original_cases = value["originalCases"]
    if not (type(original_cases) is int or (type(original_cases) is float and original_cases.is_integer())):
        return False
    if not original_cases >= 0:
        return False
    if not original_cases <= 10000000:
        return False
    candidate_cases = value["candidateCases"]
    if not (type(candidate_cases) is int or (type(candidate_cases) is float and candidate_cases.is_integer())):
        return False
    if not candidate_cases >= 0:
        return False
    if not candidate_cases <= 10000000:
        return False
    passed_cases = value["passedCases"]
    if not (type(passed_cases) is int or (type(passed_cases) is float and passed_cases.is_integer())):
        return False
    if not passed_cases >= 0:
        return False
    if not passed_cases <= 10000000:
        return False
    failed_cases = value["failedCases"]
    if not (type(failed_cases) is int or (type(failed_cases) is float and failed_cases.is_integer())):
        return False
    if not failed_cases >= 0:
        return False
    if not failed_cases <= 10000000:
        return False
    missing_cases = value["missingCases"]
    if not (type(missing_cases) is int or (type(missing_cases) is float and missing_cases.is_integer())):
        return False
    if not missing_cases >= 0:
        return False
    if not missing_cases <= 10000000:
        return False
    demonstrated_defects = value["demonstratedDefects"]
    if not (type(demonstrated_defects) is int or (type(demonstrated_defects) is float and demonstrated_defects.is_integer())):
        return False
    if not demonstrated_defects >= 0:
        return False
    if not demonstrated_defects <= 10000000:
        return False
    caught_defects = value["caughtDefects"]
    if not (type(caught_defects) is int or (type(caught_defects) is float and caught_defects.is_integer())):
        return False
    if not caught_defects >= 0:
        return False
    if not caught_defects <= 10000000:
        return False
    complete = value["complete"]
    if not isinstance(complete, bool):
        return False
    new_cases = value["newCases"]
    if not (type(new_cases) is int or (type(new_cases) is float and new_cases.is_integer())):
        return False
    if not new_cases >= 0:
        return False
    if not new_cases <= 10000000:
        return False
    repeats = value["repeats"]
    if not (type(repeats) is int or (type(repeats) is float and repeats.is_integer())):
        return False
    if not repeats >= 0:
        return False
    if not repeats <= 10000000:
        return False
    closed_gaps = value["closedGaps"]
    if not (type(closed_gaps) is int or (type(closed_gaps) is float and closed_gaps.is_integer())):
        return False
    if not closed_gaps >= 0:
        return False
    if not closed_gaps <= 10000000:
        return False
    mutants = value["mutants"]
    if not (type(mutants) is int or (type(mutants) is float and mutants.is_integer())):
        return False
    if not mutants >= 0:
        return False
    if not mutants <= 10000000:
        return False
    caught_mutants = value["caughtMutants"]
    if not (type(caught_mutants) is int or (type(caught_mutants) is float and caught_mutants.is_integer())):
        return False
    if not caught_mutants >= 0:
        return False
    if not caught_mutants <= 10000000:
        return False
    surviving_mutants = value["survivingMutants"]
    if not (type(surviving_mutants) is int or (type(surviving_mutants) is float and surviving_mutants.is_integer())):
        return False
    if not surviving_mutants >= 0:
        return False
    if not surviving_mutants <= 10000000:
        return False
    undone = value["undone"]
    if not (undone in ('caught', 'missed', 'none')):
        return False
    return True


def is_pattern(value: Any) -> bool:
    """Whether a value has the form of a pattern."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"language", "content", "hash"}:
        return False
    if not value.keys() <= {"language", "content", "hash"}:
        return False
    language = value["language"]
    if not (language in ('javascript', 'typescript', 'mixed', 'python', 'other')):
        return False
    content = value["content"]
    if not isinstance(content, str):
        return False
    if not len(content) <= 1200:
        return False
    hash = value["hash"]
    if not isinstance(hash, str):
        return False
    if not (len(hash) == 64 and not hash.strip("0123456789abcdef")):
        return False
    return True


def is_store(value: Any) -> bool:
    """Whether a value has the form of a store."""
    if not isinstance(value, dict):
        return False
    if "schemaVersion" in value:
        schema_version = value["schemaVersion"]
        if not (schema_version in (1, 2) and not isinstance(schema_version, bool)):
            return False
    if "schemaVersion" in value and ("schemaVersion" not in value or (value["schemaVersion"] == 2 and not isinstance(value["schemaVersion"], bool))):
        if not is_store2(value):
            return False
    else:
        if not is_store1(value):
            return False
    return True


def is_config(value: Any) -> bool:
    """Whether a value has the form of a config."""
    if not isinstance(value, dict):
        return False
    if "learning" in value:
        learning = value["learning"]
        if not isinstance(learning, dict):
            return False
        if "enabled" in learning:
            enabled = learning["enabled"]
            if not isinstance(enabled, bool):
                return False
    if "adapter" in value:
        adapter = value["adapter"]
        if not (adapter in ('node', 'jest', 'vitest', 'playwright', 'custom', 'pytest', 'unittest')):
            return False
    if "runner" in value:
        runner = value["runner"]
        if not isinstance(runner, list):
            return False
        if not len(runner) >= 1:
            return False
        if not len(runner) <= 64:
            return False
        if not (1 <= sum(bool(isinstance(one, str) and re.search('\\{files\\}', one)) for one in runner) <= 1):
            return False
        for runner_item in runner:
            if not isinstance(runner_item, str):
                return False
            if not len(runner_item) >= 1:
                return False
            if not len(runner_item) <= 4096:
                return False
            if not re.search('^[^\\u0000\\ud800-\\udfff]*$', runner_item):
                return False
    if "environment" in value:
        environment = value["environment"]
        if not isinstance(environment, dict):
            return False
        for environment_item in environment.values():
            if not isinstance(environment_item, str):
                return False
    if "services" in value:
        services = value["services"]
        if not isinstance(services, dict):
            return False
        for services_item in services.values():
            if not isinstance(services_item, str):
                return False
    if "agent" in value:
        agent = value["agent"]
        if not isinstance(agent, list):
            return False
        if not len(agent) >= 1:
            return False
        if not len(agent) <= 64:
            return False
        for agent_item in agent:
            if not isinstance(agent_item, str):
                return False
            if not len(agent_item) >= 1:
                return False
            if not len(agent_item) <= 4096:
                return False
            if not re.search('^[^\\u0000\\ud800-\\udfff]*$', agent_item):
                return False
    if "validation" in value:
        validation = value["validation"]
        if not isinstance(validation, dict):
            return False
        if "timeoutSeconds" in validation:
            timeout_seconds = validation["timeoutSeconds"]
            if not (type(timeout_seconds) is int or (type(timeout_seconds) is float and timeout_seconds.is_integer())):
                return False
            if not timeout_seconds >= 1:
                return False
            if not timeout_seconds <= 86400:
                return False
    if "evidence" in value:
        evidence = value["evidence"]
        if not isinstance(evidence, dict):
            return False
        if "repeats" in evidence:
            repeats = evidence["repeats"]
            if not (type(repeats) is int or (type(repeats) is float and repeats.is_integer())):
                return False
            if not repeats >= 1:
                return False
            if not repeats <= 20:
                return False
        if "mutants" in evidence:
            mutants = evidence["mutants"]
            if not (type(mutants) is int or (type(mutants) is float and mutants.is_integer())):
                return False
            if not mutants >= 0:
                return False
            if not mutants <= 200:
                return False
    if "plugins" in value:
        plugins = value["plugins"]
        if not isinstance(plugins, dict):
            return False
        if "ruvector" in plugins:
            ruvector = plugins["ruvector"]
            if not isinstance(ruvector, dict):
                return False
            if not ruvector.keys() <= {"enabled", "dimensions", "timeoutMs", "embedding", "runtime"}:
                return False
            if "enabled" in ruvector:
                enabled = ruvector["enabled"]
                if not isinstance(enabled, bool):
                    return False
            if "dimensions" in ruvector:
                dimensions = ruvector["dimensions"]
                if not (type(dimensions) is int or (type(dimensions) is float and dimensions.is_integer())):
                    return False
                if not dimensions >= 16:
                    return False
                if not dimensions <= 2048:
                    return False
            if "timeoutMs" in ruvector:
                timeout_ms = ruvector["timeoutMs"]
                if not (type(timeout_ms) is int or (type(timeout_ms) is float and timeout_ms.is_integer())):
                    return False
                if not timeout_ms >= 100:
                    return False
                if not timeout_ms <= 60000:
                    return False
            if "embedding" in ruvector:
                embedding = ruvector["embedding"]
                if not isinstance(embedding, dict):
                    return False
                if not embedding.keys() <= {"mode", "argv", "identity"}:
                    return False
                if "mode" in embedding:
                    mode = embedding["mode"]
                    if not (mode in ('feature-vectors', 'command')):
                        return False
                if "argv" in embedding:
                    argv = embedding["argv"]
                    if not isinstance(argv, list):
                        return False
                    if not len(argv) >= 1:
                        return False
                    if not len(argv) <= 32:
                        return False
                    for argv_item in argv:
                        if not isinstance(argv_item, str):
                            return False
                        if not len(argv_item) >= 1:
                            return False
                        if not len(argv_item) <= 4096:
                            return False
                        if not re.search('^[^\\u0000\\ud800-\\udfff]*$', argv_item):
                            return False
                if "identity" in embedding:
                    identity = embedding["identity"]
                    if not isinstance(identity, str):
                        return False
                    if not len(identity) <= 128:
                        return False
                    if not re.search('\\S', identity):
                        return False
                if "mode" in embedding and ("mode" not in embedding or (embedding["mode"] == 'command')):
                    if not embedding.keys() >= {"argv", "identity"}:
                        return False
            if "runtime" in ruvector:
                runtime = ruvector["runtime"]
                if not (runtime in ('python', 'node')):
                    return False
    return True
