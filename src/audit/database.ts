import { describeIndex } from '../index/segments/indexSummary.js'
import { verifyIndex } from '../index/segments/verifyIndex.js'
import type { Progress } from '../lib/progress.js'
import type { Database } from '../store/database.js'
import { createMetaTable, META_STATE_MODE } from '../store/meta.js'
import { openForReading } from '../store/open.js'
import { readStateFirst } from '../store/state/sparseState.js'
import { CHAIN_INDEXES } from '../sync/chainIndexer.js'
import { auditBlocks, blocksBetween } from './blocks.js'
import { atPlace } from './fault.js'
import { auditFile } from './file.js'
import { auditL2 } from './l2.js'
import { auditRemovedBlocks } from './removedBlocks.js'
import { auditSparseState } from './sparseState.js'
import { auditState } from './state.js'
import { auditStateTrie, auditTrieHistory } from './stateTrie.js'

/** The parts of an audit, in order. */
export const AUDIT_PARTS = ['file', 'blocks', 'stateHistory', 'index', 'l2'] as const
export type AuditPart = (typeof AUDIT_PARTS)[number]

/** Options of an audit. */
interface AuditOptions {
  parts: readonly AuditPart[]
  /** First block to audit; both bounds of the range are inclusive. */
  from?: number
  to?: number
  /** Audits only this segment of the index whose name begins with `index`. */
  segment?: { index: string; id: number }
  startProgress(label: string, unit: string, total?: number): Progress
  /** Receives one line per finished part. */
  report(line: string): void
}

/** Audits the database of `datadir`. A database that passes every part returns what it returned when it was imported.
 *  @throws DatabaseFault or IndexFault for the first fault; DatabaseMissing; DatabaseOutdated; DatabaseTooNew */
export function auditDatabase(datadir: string, options: AuditOptions): void {
  const file = { table: 'cairn.db' }
  const db = atPlace(file, () => openForReading(datadir))
  try {
    // Truncating a mapped file would kill the process; reading it only returns an error.
    atPlace(file, () => db.pragma('mmap_size = 0'))
    for (const part of options.parts) PARTS[part](db, options)
  } finally {
    db.close()
  }
}

const PARTS: { readonly [K in AuditPart]: (db: Database, options: AuditOptions) => void } = {
  file: (db, { report }) => {
    const foreign = auditFile(db)
    const others = foreign.length === 0 ? '' : `; not of Cairn: ${foreign.join(', ')}`
    report(`file: the integrity check, the schema, facts and keys are right${others}`)
  },
  blocks: (db, { from, to, startProgress, report }) => {
    const progress = startProgress('blocks', 'blocks', blocksBetween(db, { from, to }))
    const done = auditBlocks(db, { from, to, onProgress: (count) => progress.update(count) })
    progress.finish()
    const removed = auditRemovedBlocks(db)
    const others = removed === 0 ? '' : `, and ${removed} removed blocks`
    report(
      `blocks: ${done.blocks} blocks with ${done.transactions} transactions and ${done.logs} logs${others} are right`,
    )
  },
  stateHistory: (db, { startProgress, report }) => {
    const progress = startProgress('state', 'blocks', blocksBetween(db, {}))
    if (createMetaTable(db).get<string>(META_STATE_MODE) === 'sparse') {
      const { blocks, rows, codes, unaudited, dump, listed, compared } = auditSparseState(db, (count) =>
        progress.update(count),
      )
      progress.finish()
      if (dump) report(`state dump: the root of ${dump.accounts} accounts and ${dump.slots} slots is right`)
      // Without state, the stored trie is that of an earlier block.
      if (readStateFirst(db) === undefined) return report('state: the newest blocks are stored without state')
      const accounts = auditStateTrie(db, { isPartial: true }) ?? 0
      const earlier =
        unaudited === 0 ? '' : `; ${unaudited} blocks before these, whose trie is not known, were not checked`
      const lists =
        listed === 0 ? '' : `; states of ${listed} blocks come from access lists, ${compared} of them stored and right`
      return report(
        `state: roots of ${blocks} blocks, ${rows} changes and ${codes} codes are right; the trie knows ${accounts} accounts${earlier}${lists}`,
      )
    }
    const done = auditState(db, (count) => progress.update(count))
    progress.finish()
    if (done.blocks === 0) return report('state: none is stored')
    const walk = startProgress('state trie', 'accounts')
    const accounts = auditStateTrie(db, { ofRows: done.newest, onProgress: (count) => walk.update(count) })
    walk.finish()
    const kept = accounts === undefined ? 0 : auditTrieHistory(db)
    const tries = kept === 0 ? '' : `, and ${kept} tries before it`
    const trie =
      accounts === undefined ? 'the next import makes its trie' : `${accounts} accounts in the stored trie${tries}`
    const { blocks, uncompared, rows, codes } = done
    const skipped = uncompared === 0 ? '' : ` (${uncompared} more do not commit to their state)`
    report(
      `state: roots of ${blocks - uncompared} blocks${skipped}, ${rows} rows and ${codes} codes are right; ${trie}`,
    )
  },
  index: auditIndexes,
  l2: (db, { startProgress, report }) => {
    const progress = startProgress('layer 2', 'blocks')
    const done = auditL2(db, (count) => progress.update(count))
    progress.finish()
    report(`layer 2: ${done.blocks} blocks are right, the hashes of ${done.verified} recomputed`)
  },
}

function auditIndexes(db: Database, { segment: only, startProgress, report }: AuditOptions): void {
  for (const kind of CHAIN_INDEXES) {
    if (only && kind.name !== `${only.index} index`) continue
    const { name, items } = kind
    const place = { table: kind.tables.segments }
    const { sealed, tail } = atPlace(place, () => describeIndex(db, kind))
    const progress = startProgress(name, items, only ? undefined : sealed)
    const onProgress = (count: number) => progress.update(count)
    const done = atPlace(place, () => verifyIndex(db, kind, { segment: only?.id, onProgress }))
    progress.finish()
    const words = `${done.segments} segments with ${done.items} ${items} and ${done.postings} postings are right`
    report(`${name}: ${words}; ${tail} ${items} in the tail`)
  }
}
