import { recordPrestate } from '../../evm/tracing/executionState.js'
import type { TouchedState } from '../../evm/tracing/stateRecorder.js'
import { UNLIMITED } from '../../evm/tracing/unlimited.js'
import type { StoredBlockLink } from '../../store/rows/exportRows.js'
import { type Cell, type Column, columns, type Row, toU32, toU64, uint256, uint256Cells } from '../columns.js'
import type { Dataset } from '../dataset.js'
import { LAYER_1 } from '../layers.js'
import { type ExportSource, isSelected } from '../source.js'

/* What transactions read or changed, as it was before them: the rows of geth's prestateTracer. */

const SUMMARY_END =
  "each as it was before the transaction, as geth's prestateTracer returns them; found by executing the blocks again."

export const balanceReads = readDataset({
  name: 'balance-reads',
  summary: `Balances of the accounts that each transaction read or changed, ${SUMMARY_END}`,
  address: 'address',
  columns: uint256('balance'),
  cells: ({ balance }) => [uint256Cells(balance)],
})

export const nonceReads = readDataset({
  name: 'nonce-reads',
  summary: `Nonces above 0 of the accounts that each transaction read or changed, ${SUMMARY_END}`,
  address: 'address',
  columns: columns('u64', 'nonce'),
  cells: ({ nonce }) => (nonce === 0n ? [] : [[toU64(nonce)]]),
})

export const codeReads = readDataset({
  name: 'code-reads',
  summary: `Code of the contracts that each transaction read or changed, ${SUMMARY_END}`,
  address: 'contract_address',
  columns: columns('binary', 'code'),
  cells: ({ code }) => (code.length === 0 ? [] : [[code]]),
})

export const storageReads = readDataset({
  name: 'storage-reads',
  summary: `Storage slots that each transaction read or changed, ${SUMMARY_END}`,
  address: 'contract_address',
  columns: columns('binary', 'slot', 'value'),
  cells: ({ slots }) =>
    [...slots.values()].sort((a, b) => Buffer.compare(a.slot, b.slot)).map(({ slot, value }) => [slot, value]),
})

interface ReadTerms {
  readonly name: string
  readonly summary: string
  /** The column of the account. */
  readonly address: string
  readonly columns: readonly Column[]
  /** Returns the cells of each row of an account. */
  cells(state: TouchedState): Cell[][]
}

function readDataset({ name, summary, address, columns: own, cells }: ReadTerms): Dataset<StoredBlockLink> {
  return {
    name,
    fileName: name.replaceAll('-', '_'),
    summary,
    layer: LAYER_1,
    needsState: true,
    filtersAddresses: true,
    isByName: true,
    columns: [
      ...columns('u32', 'block_number', 'transaction_index'),
      ...columns('binary', 'transaction_hash', address),
      ...own,
      ...columns('u64', 'chain_id'),
      ...columns('u32', 'block_timestamp'),
    ],
    batchBlocks: () => 1,
    *rows(source, links) {
      for (const link of links) yield* rowsOf(source, link, cells)
    },
  }
}

function rowsOf(
  source: ExportSource,
  { number, timestamp, txCount }: StoredBlockLink,
  cells: ReadTerms['cells'],
): Row[] {
  if (txCount === 0) return []
  const { chain, traces } = source
  const rows: Row[] = []
  const end = [chain.chainId(), toU32(timestamp)]
  traces().replay(chain.blockByNumber(number)!, UNLIMITED, (execution) => {
    const { hooks, touched } = recordPrestate(execution)
    execution.run(hooks)
    const { index, transaction } = execution
    const wanted = [...touched.values()].filter((state) => !isEmpty(state) && isSelected(source, state.address))
    for (const state of wanted.sort((a, b) => Buffer.compare(a.address, b.address))) {
      for (const own of cells(state)) rows.push([number, index, transaction.hash, state.address, ...own, ...end])
    }
  })
  return rows
}

/** True for an account that the prestateTracer omits, with its slots. */
function isEmpty({ balance, nonce, code }: TouchedState): boolean {
  return balance === 0n && nonce === 0n && code.length === 0
}
