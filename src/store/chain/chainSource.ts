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
import type { ChainReader } from './types.js'

/** The chain of a database, as stored in the meta table: a built-in network or a genesis in geth's format. */
export type ChainSource = { network: Network } | GenesisSource

/** A chain by its genesis. */
export interface GenesisSource {
  genesis: unknown
  /** How a recorded chain differs from a whole one. */
  recording?: ChainRecording
}

/** What a recorded fixture says of itself. */
export interface ChainRecording {
  /** False: the state is a part of the chain's, and no state root is compared. */
  verified: boolean
  /** The first block that is held, if it is not block 0. The accounts of the genesis are then the state after it. */
  first?: FirstBlock
}

/** A block that is stored as it was given, since the state before it is not held. */
export interface FirstBlock {
  /** RLP, as hex data. */
  block: string
  /** Of each transaction, as in the receipts trie, as hex data. */
  receipts: string[]
  /** Of the chain up to and including this block, as a hex quantity. */
  totalDifficulty: string
}

/** The chain in the meta table; undefined before the first import. */
export function readChainSource(db: Database): ChainSource | undefined {
  return createMetaTable(db).get<ChainSource>(META_CHAIN)
}

/** False for a database made from a recording without verified state; undefined before the first import. */
export function isVerifiedSource(db: Database): boolean | undefined {
  const source = readChainSource(db)
  return source && !isPartial(source)
}

/** Whether the state roots of all blocks were compared, as health and `cairn status` show it. */
export interface Verification {
  /** Null before the first import. */
  readonly verified: boolean | null
  /** The first block from which on they were not compared; null where that is none, or all of a recording. */
  readonly unverifiedFrom: number | null
}

/** What was verified of the state in the database of `chain`. */
export function readVerification(db: Database, chain: ChainReader): Verification {
  const unverifiedFrom = chain.unverifiedFrom() ?? null
  const isVerified = isVerifiedSource(db)
  return { verified: isVerified === undefined ? null : isVerified && unverifiedFrom === null, unverifiedFrom }
}

/** The rules of the chain. @throws InvalidGenesis */
export function specOfSource(source: ChainSource): ChainSpec {
  if ('network' in source) return builtInSpec(source.network)
  const spec = parseGenesisSpec(source.genesis)
  return isPartial(source) ? { ...spec, hasPartialState: true } : spec
}

/** The full genesis of the chain, with its state. @throws InvalidGenesis */
export function genesisOfSource(source: ChainSource): Genesis {
  if ('network' in source) return builtInGenesis(source.network)
  return { ...parseGenesis(source.genesis), spec: specOfSource(source) }
}

function isPartial(source: ChainSource): boolean {
  return 'recording' in source && source.recording?.verified === false
}
