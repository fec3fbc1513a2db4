import type { ChainSpec } from '../../chain/eth/forks.js'
import {
  builtInGenesis,
  builtInSpec,
  type Genesis,
  type Network,
  parseGenesis,
  parseGenesisSpec,
} from '../../chain/eth/genesis.js'
import type { Database } from '../database.js'
import { createMetaTable, META_CHAIN } from '../meta.js'

/** The chain of a database, as stored in the meta table: a built-in network or a genesis in geth's format. */
export type ChainSource = { network: Network } | { genesis: unknown }

/** The chain in the meta table; undefined before the first import. */
export function readChainSource(db: Database): ChainSource | undefined {
  return createMetaTable(db).get<ChainSource>(META_CHAIN)
}

/** The rules of the chain. @throws InvalidGenesis */
export function specOfSource(source: ChainSource): ChainSpec {
  return 'network' in source ? builtInSpec(source.network) : parseGenesisSpec(source.genesis)
}

/** The full genesis of the chain, with its state. @throws InvalidGenesis */
export function genesisOfSource(source: ChainSource): Genesis {
  return 'network' in source ? builtInGenesis(source.network) : parseGenesis(source.genesis)
}
