"""The form of a record, compiled from ``schemas/store.schema.json``: see ``proof/compile_form.py``."""

from __future__ import annotations

import re
from typing import Any


def is_record(value: Any) -> bool:
    """Whether a value has the form of a record."""
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
    if not isinstance(provenance, dict):
        return False
    if not provenance.keys() >= {"fingerprint", "runner", "servicesHash", "sourceHash"}:
        return False
    if not provenance.keys() <= {"fingerprint", "runner", "servicesHash", "sourceHash"}:
        return False
    fingerprint = provenance["fingerprint"]
    if not isinstance(fingerprint, str):
        return False
    if not (len(fingerprint) == 64 and not fingerprint.strip("0123456789abcdef")):
        return False
    runner = provenance["runner"]
    if not isinstance(runner, str):
        return False
    if not (len(runner) == 64 and not runner.strip("0123456789abcdef")):
        return False
    services_hash = provenance["servicesHash"]
    if not isinstance(services_hash, str):
        return False
    if not (len(services_hash) == 64 and not services_hash.strip("0123456789abcdef")):
        return False
    source_hash = provenance["sourceHash"]
    if not isinstance(source_hash, str):
        return False
    if not (len(source_hash) == 64 and not source_hash.strip("0123456789abcdef")):
        return False
    framework = value["framework"]
    if not framework in ('node', 'jest', 'vitest', 'playwright', 'custom', 'pytest', 'unittest'):
        return False
    outcome = value["outcome"]
    if not outcome in ('accepted', 'rejected'):
        return False
    tags = value["tags"]
    if not isinstance(tags, list):
        return False
    for item in tags:
        if not item in ('boundary', 'error', 'integration', 'async', 'mock', 'table', 'assertion', 'modularization', 'held-out-tested', 'case-preservation'):
            return False
    if len(set(tags)) != len(tags):
        return False
    warnings = value["warnings"]
    if not isinstance(warnings, list):
        return False
    for item in warnings:
        if not item in ('review-rejected', 'oracle-missing', 'execution-incomplete', 'execution-failed', 'case-loss', 'held-out-miss', 'undemonstrated-defect', 'other-rejection'):
            return False
    if len(set(warnings)) != len(warnings):
        return False
    context = value["context"]
    if not is_context(context):
        return False
    evidence = value["evidence"]
    if not is_evidence(evidence):
        return False
    patterns = value["patterns"]
    if not isinstance(patterns, list):
        return False
    if not len(patterns) <= 8:
        return False
    for item in patterns:
        if not is_pattern(item):
            return False
    integrity = value["integrity"]
    if not isinstance(integrity, str):
        return False
    if not (len(integrity) == 64 and not integrity.strip("0123456789abcdef")):
        return False
    if outcome == 'rejected':
        if not len(patterns) <= 0:
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
    if not language in ('javascript', 'typescript', 'mixed', 'python', 'other'):
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
    if not purpose in ('candidate-tests', 'modularization'):
        return False
    return True

def is_evidence(value: Any) -> bool:
    """Whether a value has the form of a evidence."""
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

def is_pattern(value: Any) -> bool:
    """Whether a value has the form of a pattern."""
    if not isinstance(value, dict):
        return False
    if not value.keys() >= {"language", "content", "hash"}:
        return False
    if not value.keys() <= {"language", "content", "hash"}:
        return False
    language = value["language"]
    if not language in ('javascript', 'typescript', 'mixed', 'python', 'other'):
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
