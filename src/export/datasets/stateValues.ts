import { equalBytes, padLeft } from '../../lib/bytes.js'
import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { columns, toU32 } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import { isSelected } from '../source.js'
import { type AccountField, balanceField, codeField, nonceField } from './accountFields.js'

/* Values after a block that changed them. They need the state history alone: nothing is executed. */

export const balances = accountDataset(balanceField, {
  name: 'balances',
  column: 'balance',
  summary: 'Balances after each block that changed them, the genesis allocation included.',
})

export const nonces = accountDataset(nonceField, {
  name: 'nonces',
  column: 'nonce',
  summary: 'Nonces after each block that changed them.',
})

export const codes = accountDataset(codeField, {
  name: 'codes',
  column: 'code',
  summary: 'Code of accounts after each block that changed it. Empty after a destruction.',
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
        .filter(({ address }) => isSelected(source, address))
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

function accountDataset<V>(
  { columns: columnsOf, at, isSame, cells }: AccountField<V>,
  { name, column, summary }: { name: string; column: string; summary: string },
): Dataset<StoredBlockLink> {
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
      ...columnsOf(column),
      ...columns('u64', 'chain_id'),
      ...columns('u32', 'block_timestamp'),
    ],
    batchBlocks: () => 16,
    *rows(source, links) {
      const { chain, changes, state } = source
      const chainId = chain.chainId()
      for (const { number, timestamp } of links) {
        const changed = changes.accounts(number).map(({ address }) => address!)
        for (const address of changed.filter((each) => isSelected(source, each)).sort(Buffer.compare)) {
          const value = at(state, address, number)
          if (isSame(value, at(state, address, number - 1))) continue
          yield [number, address, ...cells(value), chainId, toU32(timestamp)]
        }
      }
    },
  }
}
