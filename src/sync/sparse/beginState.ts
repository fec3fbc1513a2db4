import { type ChainSpec, rulesAt } from '../../chain/eth/forks/rules.js'
import type { Header } from '../../chain/eth/types.js'
import { EMPTY_BYTES } from '../../lib/bytes.js'
import { UsageError } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import type { Database } from '../../store/database.js'
import { createMetaTable, META_KNOWN_STATE, META_STATE_FIRST } from '../../store/meta.js'
import { StateLog } from '../../store/replication/stateLog.js'
import type { KnownState } from '../../store/rows/coverage.js'
import { createStateTrieTable, type StateTrieTable } from '../../store/state/stateTrieTable.js'
import { unknownStateHead } from '../../trie/partialState.js'

/** Whether an addition to sparse state gets an entry of this database. Default: true; false for that of a writer. */
export interface LogOptions {
  readonly isLogged?: boolean
}

/** Makes the newest block the first one with sparse state, within the caller's transaction: nothing of its state is
 *  known but the root. */
export function beginSparseState(
  db: Database,
  block: { hash: Uint8Array; header: Header },
  { isLogged = true }: LogOptions = {},
): void {
  if (isLogged) new StateLog(db).add('begin', block.header.number, EMPTY_BYTES)
  const meta = createMetaTable(db)
  meta.set(META_STATE_FIRST, block.header.number)
  meta.set(META_KNOWN_STATE, { accounts: 0, slots: 0 } satisfies KnownState)
  setUnknownTrie(createStateTrieTable(db), block)
}

/** Replaces a stored trie by the root of a block, within the caller's transaction. */
export function setUnknownTrie(
  table: Pick<StateTrieTable, 'removeFrom' | 'setHead'>,
  { hash, header }: { hash: Uint8Array; header: Header },
): void {
  table.removeFrom(0)
  table.setHead(unknownStateHead(header.stateRoot, { number: header.number, hash: formatData(hash) }))
}

/** True for a block at which sparse state can begin: one of Cancun or later. Before, SELFDESTRUCT removes storage that
 *  was never read (EIP-6780). */
export function canBeginSparse(spec: ChainSpec, { number, timestamp }: Header): boolean {
  return rulesAt(spec, number, timestamp).keepsOldDestructed
}

/** Requires that sparse state can begin at a block. @throws UsageError before Cancun */
export function requireSparseStart(spec: ChainSpec, header: Header): void {
  if (canBeginSparse(spec, header)) return
  throw new UsageError(
    `block ${header.number} is before Cancun: --state sparse begins at a later block, since storage could be removed unseen before`,
  )
}
