import { noDeadline } from '../../lib/deadline.js'
import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { TokenCalls } from '../../tokens/tokenCalls.js'
import { type Cell, type Column, columns, nullable, toU32, uint256, uint256Cells } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import type { ExportSource } from '../source.js'

/* What token contracts answer after each block. They need the state alone: no block is executed again. */

export const erc20Metadata = tokenDataset({
  name: 'erc20-metadata',
  summary: 'Name, symbol and decimals of each token after each block. Null where the contract does not answer.',
  token: 'erc20',
  columns: [...nullable('string', 'name', 'symbol'), ...nullable('u32', 'decimals')],
  cells: (calls, token) => [calls.name(token), calls.symbol(token), calls.decimals(token)],
})

export const erc721Metadata = tokenDataset({
  name: 'erc721-metadata',
  summary: 'Name and symbol of each token after each block. Null where the contract does not answer.',
  token: 'erc721',
  columns: nullable('string', 'name', 'symbol'),
  cells: (calls, token) => [calls.name(token), calls.symbol(token)],
})

export const erc20Supplies = tokenDataset({
  name: 'erc20-supplies',
  summary: 'Total supply of each token after each block. Null where the contract does not answer.',
  token: 'erc20',
  columns: uint256('total_supply').map(asNullable),
  cells: (calls, token) => wideOrNull(calls.totalSupply(token)),
})

export const erc20Balances: Dataset<StoredBlockLink> = {
  name: 'erc20-balances',
  fileName: 'erc20_balances',
  summary:
    'Balance of each `--address` in each `--contract` after each block, as `balanceOf` returns it. Null where the contract does not answer.',
  layer: LAYER_1,
  needsState: true,
  filtersAddresses: true,
  calls: 'balances',
  isByName: true,
  columns: [
    ...columns('u32', 'block_number'),
    ...columns('binary', 'erc20', 'address'),
    ...uint256('balance').map(asNullable),
    ...columns('u64', 'chain_id'),
    ...columns('u32', 'block_timestamp'),
  ],
  batchBlocks: () => 16,
  *rows(source, links) {
    const { chain, contracts = [], addresses = [] } = source
    for (const { number, timestamp } of links) {
      const calls = callsAfter(source, number)
      for (const token of contracts) {
        for (const address of addresses) {
          const balance = calls.balance(address, { token, kind: 'erc20', id: undefined })
          yield [number, token, address, ...wideOrNull(balance), chain.chainId(), toU32(timestamp)]
        }
      }
    }
  },
}

interface TokenTerms {
  readonly name: string
  readonly summary: string
  /** The column of the contract. */
  readonly token: string
  readonly columns: readonly Column[]
  cells(calls: TokenCalls, token: Uint8Array): Cell[]
}

function tokenDataset({ name, summary, token: column, columns: own, cells }: TokenTerms): Dataset<StoredBlockLink> {
  return {
    name,
    fileName: name.replaceAll('-', '_'),
    summary,
    layer: LAYER_1,
    needsState: true,
    filtersAddresses: true,
    calls: 'tokens',
    isByName: true,
    columns: [
      ...columns('u32', 'block_number'),
      ...columns('binary', column),
      ...own,
      ...columns('u64', 'chain_id'),
      ...columns('u32', 'block_timestamp'),
    ],
    batchBlocks: () => 16,
    *rows(source, links) {
      const { chain, contracts = [], addresses = [] } = source
      for (const { number, timestamp } of links) {
        const calls = callsAfter(source, number)
        for (const token of [...contracts, ...addresses]) {
          yield [number, token, ...cells(calls, token), chain.chainId(), toU32(timestamp)]
        }
      }
    },
  }
}

function callsAfter(source: ExportSource, blockNumber: number): TokenCalls {
  return new TokenCalls(source.evm(), { blockNumber, deadline: noDeadline })
}

function asNullable(column: Column): Column {
  return { ...column, nullable: true }
}

function wideOrNull(value: bigint | null): Cell[] {
  return value === null ? [null, null, null] : uint256Cells(value)
}
