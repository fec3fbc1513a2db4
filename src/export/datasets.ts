import { UsageError } from '../lib/errors.js'
import { didYouMean } from '../lib/suggestion.js'
import type { Dataset } from './dataset.js'
import { addressAppearances } from './datasets/addressAppearances.js'
import { blocks } from './datasets/blocks.js'
import { blobs, withdrawals } from './datasets/bodyLists.js'
import { contracts } from './datasets/contracts.js'
import { deposits, l1Fees } from './datasets/deposits.js'
import { fourByteCounts } from './datasets/fourByteCounts.js'
import { l2Blocks } from './datasets/l2Blocks.js'
import { logs } from './datasets/logs.js'
import { nativeTransfers } from './datasets/nativeTransfers.js'
import { receipts } from './datasets/receipts.js'
import { balanceDiffs, codeDiffs, nonceDiffs, storageDiffs } from './datasets/stateDiffs.js'
import { balanceReads, codeReads, nonceReads, storageReads } from './datasets/stateReads.js'
import { balances, codes, nonces, slots } from './datasets/stateValues.js'
import { erc20Approvals, erc20Transfers, erc721Transfers } from './datasets/tokenLogs.js'
import { erc20Balances, erc20Metadata, erc20Supplies, erc721Metadata } from './datasets/tokenValues.js'
import { traceCallRows, traces } from './datasets/traces.js'
import { transactions } from './datasets/transactions.js'
import { vmTraces } from './datasets/vmTraces.js'

/** All datasets with fixed columns. */
export const DATASETS: readonly Dataset[] = [
  blocks,
  transactions,
  receipts,
  logs,
  erc20Transfers,
  erc20Approvals,
  erc721Transfers,
  withdrawals,
  blobs,
  deposits,
  l1Fees,
  addressAppearances,
  contracts,
  traces,
  nativeTransfers,
  fourByteCounts,
  balances,
  nonces,
  codes,
  slots,
  balanceDiffs,
  nonceDiffs,
  codeDiffs,
  storageDiffs,
  balanceReads,
  nonceReads,
  codeReads,
  storageReads,
  vmTraces,
  traceCallRows,
  erc20Metadata,
  erc20Supplies,
  erc20Balances,
  erc721Metadata,
  l2Blocks,
] as readonly Dataset[]

/** Splits operands into names, also at commas. `_` is accepted for `-`. */
export function splitNames(operands: readonly string[]): string[] {
  const names = operands.flatMap((operand) => operand.split(',')).map((name) => name.trim().replaceAll('_', '-'))
  return names.filter((name) => name !== '')
}

/** Returns the datasets with these names, each once; `all` selects those with fixed columns that are not selected by
 *  name alone, `events` those from `listEvents`. @throws UsageError for an unknown name or an empty list */
export function chooseDatasets(names: readonly string[], listEvents: () => readonly Dataset[] = () => []): Dataset[] {
  const known = DATASETS.map(({ name }) => name)
  const chosen = new Set<Dataset>()
  for (const name of names) {
    const found =
      name === 'all' ? DATASETS.filter(({ isByName }) => !isByName) : name === 'events' ? listEvents() : byName(name)
    if (found.length === 0 && name !== 'events') {
      throw new UsageError(
        `unknown dataset '${name}'${didYouMean(name, [...known, 'events', 'all'])}; there are ${known.join(', ')}, events`,
      )
    }
    for (const dataset of found) chosen.add(dataset)
  }
  if (names.length === 0) throw new UsageError(`no dataset; name some of ${known.join(', ')}, events, or all`)
  return [...chosen]
}

function byName(name: string): Dataset[] {
  return DATASETS.filter((dataset) => dataset.name === name)
}
