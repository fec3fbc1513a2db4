import { recordExecutionState } from '../../evm/tracing/executionState.js'
import { type AccountFields, fieldsOf, slotValue } from '../../evm/tracing/stateRecorder.js'
import { UNLIMITED } from '../../evm/tracing/unlimited.js'
import { concatBytes, equalBytes, keyOfBytes, padLeft } from '../../lib/bytes.js'
import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { type Column, columns, nullable, type Row, toU32 } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import type { ExportSource } from '../source.js'
import { type AccountField, balanceField, codeField, nonceField } from './accountFields.js'

const PLACE: readonly Column[] = [
  ...columns('u32', 'block_number'),
  ...nullable('u32', 'transaction_index'),
  ...nullable('binary', 'transaction_hash'),
  ...columns('binary', 'address'),
]
const END: readonly Column[] = [...columns('u64', 'chain_id'), ...columns('u32', 'block_timestamp')]
const BY_BLOCK =
  'Without transaction: the genesis allocation, system calls, withdrawals, rewards and other changes of the block itself.'
const CLEARED = 'Also slots of a destroyed contract that its last transaction did not touch.'

export const balanceDiffs = accountDiffs(balanceField, {
  name: 'balance-diffs',
  summary: 'Balances before and after each transaction that changed them.',
  inExecution: ({ balance }) => balance,
})

export const nonceDiffs = accountDiffs(nonceField, {
  name: 'nonce-diffs',
  summary: 'Nonces before and after each transaction that changed them.',
  inExecution: ({ nonce }) => nonce,
})

export const codeDiffs = accountDiffs(codeField, {
  name: 'code-diffs',
  summary: 'Code of accounts before and after each transaction that changed it.',
  inExecution: ({ code }) => code,
})

function accountDiffs<V>(
  { columns: columnsOf, at, isSame, cells }: AccountField<V>,
  { name, summary, inExecution }: { name: string; summary: string; inExecution(fields: AccountFields): V },
): Dataset<StoredBlockLink> {
  return {
    name,
    fileName: name.replaceAll('-', '_'),
    summary: `${summary} ${BY_BLOCK}`,
    layer: LAYER_1,
    needsState: true,
    columns: [...PLACE, ...columnsOf('from_value'), ...columnsOf('to_value'), ...END],
    batchBlocks: () => 1,
    *rows(source, links) {
      const { state, changes } = source
      for (const link of links) {
        const inTransactions = replay<Place, V>(source, link, ({ address, ...before }, { after }) => {
          const [from, to] = [inExecution(before), inExecution(after)]
          return isSame(from, to) ? [] : [{ place: { key: address, address }, from, to }]
        })
        const known = {
          changed: changes.accounts(link.number).map(({ address }) => ({ key: address!, address: address! })),
          at: ({ address }: Place, number: number) => at(state, address, number),
          isSame,
        }
        for (const { place, index, hash, from, to } of withBlockChanges(link.number, inTransactions, known)) {
          yield rowOf(source, link, [index, hash, place.address, ...cells(from), ...cells(to)])
        }
      }
    },
  }
}

export const storageDiffs: Dataset<StoredBlockLink> = {
  name: 'storage-diffs',
  fileName: 'storage_diffs',
  summary: `Storage slots before and after each transaction that changed them. ${BY_BLOCK} ${CLEARED}`,
  layer: LAYER_1,
  needsState: true,
  columns: [...PLACE, ...columns('binary', 'slot', 'from_value', 'to_value'), ...END],
  batchBlocks: () => 1,
  *rows(source, links) {
    const { state, changes, rows } = source
    for (const link of links) {
      const inTransactions = replaySlots(source, link)
      const changed = [...changes.slots(link.number), ...rows.clearedSlots(link.number)]
      const known = {
        changed: changed.map(({ address, slot }) => slotPlace(address!, padLeft(slot, 32))),
        at: ({ address, slot }: SlotPlace, number: number) => state.storage(address, slot, number),
        isSame: equalBytes,
      }
      for (const { place, index, hash, from, to } of withBlockChanges(link.number, inTransactions, known)) {
        yield rowOf(source, link, [index, hash, place.address, place.slot, from, to])
      }
    }
  },
}

function rowOf({ chain }: ExportSource, { number, timestamp }: StoredBlockLink, cells: Row): Row {
  return [number, ...cells, chain.chainId(), toU32(timestamp)]
}

/** A changed account or storage slot. Places are ordered by `key`. */
interface Place {
  readonly key: Uint8Array
  readonly address: Uint8Array
}
interface SlotPlace extends Place {
  readonly slot: Uint8Array // 32
}

function slotPlace(address: Uint8Array, slot: Uint8Array): SlotPlace {
  return { key: concatBytes(address, slot), address, slot }
}

/** A change by a transaction, or by the block itself if index and hash are null. */
interface Change<P, V> {
  place: P
  index: number | null
  hash: Uint8Array | null
  from: V
  to: V
}

function replaySlots(source: ExportSource, link: StoredBlockLink): Change<SlotPlace, Uint8Array>[] {
  return replay(source, link, ({ address, slots }, { slotNow }) =>
    [...slots.values()].flatMap(({ slot, value }) => {
      const now = slotNow(slot)
      return equalBytes(value, now) ? [] : [{ place: slotPlace(address, slot), from: value, to: now }]
    }),
  )
}

type Touched = ReturnType<typeof recordExecutionState>['touched'] extends ReadonlyMap<string, infer T> ? T : never
interface After {
  after: AccountFields
  /** Returns the value of a slot of the account. */
  slotNow(slot: Uint8Array): Uint8Array
}

/** Executes the transactions of the block. Returns the changes that `compare` finds in what each of them touched. */
function replay<P extends Place, V>(
  { chain, traces }: ExportSource,
  { number, txCount }: StoredBlockLink,
  compare: (before: Touched, now: After) => Pick<Change<P, V>, 'place' | 'from' | 'to'>[],
): Change<P, V>[] {
  if (txCount === 0) return []
  const changes: Change<P, V>[] = []
  traces().replay(chain.blockByNumber(number)!, UNLIMITED, (execution) => {
    const { hooks, touched } = recordExecutionState(execution)
    const { journal, index, transaction } = execution
    execution.run(hooks)
    const own = [...touched.values()].flatMap((before) => {
      const slotNow = (slot: Uint8Array) => slotValue(journal, before.address, slot)
      return compare(before, { after: fieldsOf(journal, before.address), slotNow })
    })
    own.sort(byKey)
    for (const change of own) changes.push({ ...change, index, hash: transaction.hash })
  })
  return changes
}

/** The state history. `changed` are the places whose value differs before and after the block. */
interface History<P, V> {
  changed: readonly P[]
  at(place: P, blockNumber: number): V
  isSame(a: V, b: V): boolean
}

/** Adds the changes of the block itself before and after those of its transactions, so that the changes of a place lead
 *  from its value before the block to its value after it. */
function withBlockChanges<P extends Place, V>(
  blockNumber: number,
  inTransactions: readonly Change<P, V>[],
  { changed, at, isSame }: History<P, V>,
): Change<P, V>[] {
  const ends = new Map<string, { place: P; first?: Change<P, V>; last?: Change<P, V> }>()
  for (const place of changed) ends.set(keyOfBytes(place.key), { place })
  for (const change of inTransactions) {
    const key = keyOfBytes(change.place.key)
    const known = ends.get(key) ?? { place: change.place }
    ends.set(key, { ...known, first: known.first ?? change, last: change })
  }
  const before: Change<P, V>[] = []
  const after: Change<P, V>[] = []
  const ofBlock = (to: Change<P, V>[], place: P, change: { from: V; to: V }) => {
    if (!isSame(change.from, change.to)) to.push({ place, index: null, hash: null, ...change })
  }
  for (const { place, first, last } of ends.values()) {
    const [start, end] = [at(place, blockNumber - 1), at(place, blockNumber)]
    if (first === undefined || last === undefined) ofBlock(after, place, { from: start, to: end })
    else {
      ofBlock(before, place, { from: start, to: first.from })
      ofBlock(after, place, { from: last.to, to: end })
    }
  }
  return [...before.sort(byKey), ...inTransactions, ...after.sort(byKey)]
}

function byKey({ place: a }: { place: Place }, { place: b }: { place: Place }): number {
  return Buffer.compare(a.key, b.key)
}
