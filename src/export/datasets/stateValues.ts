import { equalBytes, padLeft } from '../../lib/bytes.js'
import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { type Cell, type Column, columns, toU32, toU64, uint256, uint256Cells } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import type { ExportSource } from '../source.js'

/* Values after a block that changed them. They need the state history alone: nothing is executed. */

/** A field of accounts. */
interface Field<V> {
  readonly name: string
  readonly summary: string
  readonly columns: readonly Column[]
  at(source: ExportSource, address: Uint8Array, blockNumber: number): V
  isSame(a: V, b: V): boolean
  cells(value: V): Cell[]
}

export const balances = accountDataset<bigint>({
  name: 'balances',
  summary: 'Balances after each block that changed them, the genesis allocation included.',
  columns: uint256('balance'),
  at: ({ state }, address, number) => state.balance(address, number),
  isSame: (a, b) => a === b,
  cells: uint256Cells,
})

export const nonces = accountDataset<bigint>({
  name: 'nonces',
  summary: 'Nonces after each block that changed them.',
  columns: columns('u64', 'nonce'),
  at: ({ state }, address, number) => state.nonce(address, number),
  isSame: (a, b) => a === b,
  cells: (nonce) => [toU64(nonce)],
})

export const codes = accountDataset<Uint8Array>({
  name: 'codes',
  summary: 'Code of accounts after each block that changed it. Empty after a destruction.',
  columns: columns('binary', 'code'),
  at: ({ state }, address, number) => state.code(address, number),
  isSame: equalBytes,
  cells: (code) => [code],
})

export const slots: Dataset<StoredBlockLink> = {
  name: 'slots',
  fileName: 'slots',
  summary: 'Storage slots after each block that changed them. Zero after a destruction of their contract.',
  layer: LAYER_1,
  needsState: true,
  filtersAddresses: true,
  columns: [
    ...columns('u32', 'block_number'),
    ...columns('binary', 'address', 'slot', 'value'),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: () => 16,
  *rows(source, links) {
    const { chain, changes, rows, state } = source
    const chainId = chain.chainId()
    for (const { number, timestamp } of links) {
      const changed = [...changes.slots(number), ...rows.clearedSlots(number)]
        .map(({ address, slot }) => ({ address: address!, slot: padLeft(slot, 32) }))
        .filter(({ address }) => isWanted(source, address))
        .sort((a, b) => Buffer.compare(a.address, b.address) || Buffer.compare(a.slot, b.slot))
      for (const [i, { address, slot }] of changed.entries()) {
        const last = changed[i - 1]
        if (last && equalBytes(last.address, address) && equalBytes(last.slot, slot)) continue
        const value = state.storage(address, slot, number)
        if (equalBytes(value, state.storage(address, slot, number - 1))) continue
        yield [number, address, slot, value, chainId, toU32(timestamp)]
      }
    }
  },
}

function accountDataset<V>(field: Field<V>): Dataset<StoredBlockLink> {
  const { name, summary, at, isSame, cells } = field
  return {
    name,
    fileName: name,
    summary,
    layer: LAYER_1,
    needsState: true,
    filtersAddresses: true,
    columns: [
      ...columns('u32', 'block_number'),
      ...columns('binary', 'address'),
      ...field.columns,
      ...columns('u64', 'chain_id'),
      ...columns('u32', 'block_timestamp'),
    ],
    batchBlocks: () => 16,
    *rows(source, links) {
      const chainId = source.chain.chainId()
      for (const { number, timestamp } of links) {
        const changed = source.changes.accounts(number).map(({ address }) => address!)
        for (const address of changed.filter((each) => isWanted(source, each)).sort(Buffer.compare)) {
          const value = at(source, address, number)
          if (isSame(value, at(source, address, number - 1))) continue
          yield [number, address, ...cells(value), chainId, toU32(timestamp)]
        }
      }
    },
  }
}

function isWanted({ addresses }: ExportSource, address: Uint8Array): boolean {
  return addresses === undefined || addresses.some((each) => equalBytes(each, address))
}
