import { addedType } from '../chain/eth/families/addedTypes.js'
import { familyOf } from '../chain/eth/families/families.js'
import type { Dataset } from './dataset.js'
import type { ExportSelection, ExportSource } from './source.js'

/** Returns why the dataset cannot be exported from this database, with a remedy; undefined if it can. */
export function whyUnavailable(source: ExportSource, dataset: Dataset): string | undefined {
  const { name, layer, needsState, needsAppearances, needsDeposits, filtersAddresses, calls } = dataset
  if (layer.coverage(source) === undefined)
    return `${name}: the database holds no ${layer.name} blocks; import some first`
  if (needsState && source.chain.coverage()?.stateFirst === undefined) {
    return `${name}: the database has no state, because its blocks were imported with --state none; import them with --state execute`
  }
  const family = needsDeposits ? familyOf(source.chain.spec()) : undefined
  if (family && !family.transactionTypes.some((type) => addedType(type) !== undefined)) {
    return `${name}: blocks of ${family.title} have no deposits of layer 1`
  }
  if (needsAppearances && source.appearances.lastBlock() !== source.chain.head()) {
    return `${name}: the database has no address index of all blocks; run 'cairn reindex'`
  }
  if (source.addresses !== undefined && !filtersAddresses) {
    return `${name}: --address does not apply to it; export it without`
  }
  return calls === undefined ? whyNoCalls(source, name) : whatCallsLack(source, { name, calls })
}

function whyNoCalls({ contracts, callData }: ExportSelection, name: string): string | undefined {
  const flag = contracts !== undefined ? '--contract' : callData !== undefined ? '--call-data' : undefined
  return flag && `${name}: ${flag} does not apply to it; export it without`
}

function whatCallsLack(
  { addresses, contracts, callData }: ExportSelection,
  { name, calls }: Pick<Dataset, 'name' | 'calls'>,
): string | undefined {
  if (callData !== undefined && calls !== 'data') return `${name}: --call-data does not apply to it; export it without`
  if (calls === 'tokens') {
    return (addresses ?? contracts) ? undefined : `${name}: name the tokens with --contract`
  }
  if (contracts === undefined) return `${name}: name the contracts with --contract`
  if (calls === 'balances' && addresses === undefined) return `${name}: name the accounts with --address`
  if (calls === 'data' && callData === undefined) return `${name}: --call-data is missing`
  return undefined
}

/** Returns the blocks that a dataset can have rows of; undefined for none. One that needs the state before a block
 *  begins after the first block with state, unless that is the genesis, and after blocks that were not executed. */
export function coverageOf(
  source: ExportSource,
  { layer, needsState }: Pick<Dataset, 'layer' | 'needsState'>,
): ReturnType<Dataset['layer']['coverage']> {
  const stored = layer.coverage(source)
  const { stateFirst, listedStates = [] } = (needsState && source.chain.coverage()) || {}
  // Blocks whose states come from access lists may not be executed again.
  const first = stateFirst && Math.max(stateFirst, listedStates.at(-1)?.last ?? 0)
  return stored && first ? { ...stored, first: first + 1 } : stored
}
