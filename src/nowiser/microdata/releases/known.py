"""What the attackers of a release know under a policy: its public columns, whether they are generalised or kept."""

from dataclasses import replace

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata.candidates import Candidate, private_columns
from nowiser.microdata.method_contract import Run
from nowiser.model.schema import Role, Table


def with_all_known(table: Table, candidate: Candidate, run: Run) -> Run:
    """What attackers know: public columns that are kept count as quasi-identifiers do.

    Raises Misconfigured where a column is released whose role the policy or the recipe does not say.
    """
    named = {*run.roles.quasi, *run.roles.sensitive, *private_columns(candidate.steps)}
    secret = {c.name for c in table.columns if c.role is Role.SENSITIVE}
    declared = {c.name for c in table.columns}
    for name in candidate.names:
        if name not in named and (name in secret or name not in declared):
            why = "is sensitive by" if name in secret else "is not declared in"
            hint = "List it under sensitive" if name in secret else "Declare it in the policy"
            raise Misconfigured(
                f"{name!r} {why} the policy, and the recipe releases it as it is", hint=f"{hint}, or leave it out."
            )
    public = {c.name for c in table.columns if c.role is Role.PUBLIC}
    kept = [c for c in candidate.names if c in public and c not in run.roles.quasi]
    if kept and candidate.streamed is not None:
        raise NotAnswerable(
            f"{kept[0]!r} is public: attackers know it, and in a stream only quasi-identifiers are counted",
            hint=f"Name it under quasi instead of keep: {', '.join(kept)}. Or publish without --stream.",
        )
    return replace(run, roles=replace(run.roles, quasi=(*run.roles.quasi, *kept)))
