import { AUDIT_PARTS, type AuditPart, auditDatabase } from '../../../src/audit/database.js'
import { DatabaseFault } from '../../../src/audit/fault.js'
import { IndexFault } from '../../../src/index/segments/verifyIndex.js'
import { noProgress } from '../../../src/lib/progress.js'

/** The fault that an audit of the parts, by default of everything, names; undefined when it finds none. */
export function findFault(
  datadir: string,
  parts: readonly AuditPart[] = AUDIT_PARTS,
): DatabaseFault | IndexFault | undefined {
  try {
    auditDatabase(datadir, { parts, startProgress: () => noProgress, report: () => {} })
    return undefined
  } catch (error) {
    if (error instanceof DatabaseFault || error instanceof IndexFault) return error
    throw error
  }
}
