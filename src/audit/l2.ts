import { inflateSync } from 'node:zlib'
import { encodeFelt } from '../chain/starknet/felt.js'
import type { L2NetworkName } from '../chain/starknet/networks.js'
import { readL2Recording } from '../chain/starknet/recording/recording.js'
import { isPendingStatus, isRejectedStatus, type L2Block } from '../chain/starknet/types.js'
import { createL2BlockVerifier } from '../chain/starknet/verifier.js'
import type { L2Verdict } from '../chain/starknet/verify.js'
import { equalBytes } from '../lib/bytes.js'
import { parseJsonExact } from '../lib/json.js'
import type { Database } from '../store/database.js'
import { ANY_EVENT, matchEvents, termsOf } from '../store/l2/eventCodec.js'
import { eventsOf } from '../store/l2/l2EventRows.js'
import { encodeL2Header, L2_BLOCK_COLUMNS } from '../store/l2/l2Rows.js'
import { toStoredHeader } from '../store/l2/l2Writer.js'
import { createRawL2, type RawL2 } from '../store/l2/rawL2.js'
import { createMetaTable, META_L2_NETWORK } from '../store/meta.js'
import type { RawRow } from '../store/rows/rawRows.js'
import { atPlace, DatabaseFault, type FaultPlace } from './fault.js'
import { auditL2Finality } from './l2Finality.js'
import { compareColumns } from './rowComparison.js'

/** Summary of the audited layer-2 blocks. */
interface L2Audit {
  blocks: number
  /** Blocks whose hash was recomputed. */
  verified: number
}

/** Parses every layer-2 block from its stored recording, recomputes its hash if the import did, and compares rows and
 *  links with it. One snapshot. @throws DatabaseFault for the first difference */
export function auditL2(db: Database, onProgress?: (blocks: number) => void): L2Audit {
  return atPlace(
    { table: 'l2_blocks' },
    db.transaction(() => {
      const rows = createRawL2(db)
      const verify = createL2BlockVerifier()
      const network = createMetaTable(db).get<L2NetworkName>(META_L2_NETWORK)
      const done: L2Audit = { blocks: 0, verified: 0 }
      let acceptedOnL1 = -1
      for (const row of rows.blocks()) {
        const place = { table: 'l2_blocks', row: `block ${row.number}` }
        atPlace(place, () => {
          if (auditBlock(rows, row, place, (block) => verify(block, network))) done.verified++
          if (row.upstream_status === 'ACCEPTED_ON_L1' && row.canonical === 1) acceptedOnL1 = row.number as number
        })
        done.blocks++
        onProgress?.(done.blocks)
      }
      const stray = rows.strayTransaction()
      if (stray !== undefined) {
        throw new DatabaseFault({ table: 'l2_block_txs' }, { field: 'block_hash', expected: 'a block', found: stray })
      }
      const strayEvents = rows.strayEvents()
      if (strayEvents !== undefined) {
        const row = `block ${strayEvents}`
        throw new DatabaseFault(
          { table: 'l2_events', row },
          { field: 'number', expected: 'a canonical block', found: row },
        )
      }
      auditL2Finality(db, rows, acceptedOnL1)
      return done
    }),
  )
}

const HEADER_COLUMNS = L2_BLOCK_COLUMNS.split(/,\s*/)
const TRANSACTION_COLUMNS = ['idx', 'tx_hash']

/** True when the block's hash was recomputed. */
function auditBlock(rows: RawL2, row: RawRow, place: FaultPlace, verify: (block: L2Block) => L2Verdict): boolean {
  const block = readRecording(row.raw)
  const verdict: L2Verdict = row.verified === null ? { kind: 'unchecked' } : verify(block)
  if (verdict.kind === 'mismatch') {
    const { check: field, expected, actual: found } = verdict
    throw new DatabaseFault(place, { field, expected, found })
  }
  const canonical = isRejectedStatus(block.status) || row.orphaned_at !== null ? 0 : 1
  const verified = verdict.kind === 'match' ? 1 : verdict.kind === 'unverifiable' ? 0 : null
  const values = [...encodeL2Header(toStoredHeader(block, verdict)), canonical, verified, block.status]
  compareColumns(place, row, [...HEADER_COLUMNS, 'upstream_status'], values)
  if (isPendingStatus(block.status)) {
    throw new DatabaseFault(place, { field: 'upstream_status', expected: 'a confirmed one', found: block.status })
  }
  const transactions = rows.transactions(encodeFelt(block.hash!))
  const count = block.transactionHashes.length
  if (transactions.length !== count) {
    const txPlace = { ...place, table: 'l2_block_txs' }
    throw new DatabaseFault(txPlace, { field: 'rows', expected: count, found: transactions.length })
  }
  transactions.forEach((transaction, index) => {
    const txPlace = { table: 'l2_block_txs', row: `${place.row}, transaction ${index}` }
    compareColumns(txPlace, transaction, TRANSACTION_COLUMNS, [index, encodeFelt(block.transactionHashes[index])])
  })
  if (canonical === 1) {
    checkParent(rows, block, place)
    checkEvents(rows, block, place)
  }
  return verified === 1
}

/** Compares the stored events and the index with the recording. @throws DatabaseFault */
function checkEvents(rows: RawL2, block: L2Block, place: FaultPlace): void {
  const found = rows.events(block.number!)
  if (found === undefined) {
    throw new DatabaseFault({ ...place, table: 'l2_events' }, { field: 'rows', expected: 1, found: 0 })
  }
  const events = eventsOf(block)
  compareColumns({ ...place, table: 'l2_events' }, found, ['events'], [events ?? null])
  if (events === undefined) return
  const terms = termsOf(matchEvents(events, ANY_EVENT))
  for (const term of terms) {
    if (rows.hasTerm(term, block.number!)) continue
    const where = { ...place, table: 'l2_event_terms', row: `${place.row}, term ${term}` }
    throw new DatabaseFault(where, { field: 'rows', expected: 1, found: 0 })
  }
}

function readRecording(raw: RawRow[string]): L2Block {
  if (!(raw instanceof Uint8Array)) throw new RangeError('the recording is gone')
  return readL2Recording(parseJsonExact(inflateSync(raw).toString()))
}

function checkParent(rows: RawL2, { number, parentHash }: L2Block, place: FaultPlace): void {
  const parent = rows.canonicalHash(number! - 1)
  if (parent === undefined || parentHash === undefined || equalBytes(parent, encodeFelt(parentHash))) return
  throw new DatabaseFault(place, { field: 'parent_hash', expected: parent, found: encodeFelt(parentHash) })
}
