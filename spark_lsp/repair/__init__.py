"""Repairs of what another program finds wrong: the model writes some lines again, checks decide whether that helps."""

from spark_lsp.repair.difference import Edit
from spark_lsp.repair.fault import Fault
from spark_lsp.repair.search import Outcome, RepairRequest, repair

__all__ = ["Edit", "Fault", "Outcome", "RepairRequest", "repair"]
