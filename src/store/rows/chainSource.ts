import { type ForkTimes, withForkTimes } from '../../chain/eth/forkSchedule.js'
import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import {
  builtInGenesis,
  builtInSpec,
  type Genesis,
  type Network,
  parseGenesis,
  parseGenesisSpec,
} from '../../chain/eth/genesis.js'
import type { Database } from '../database.js'
import { createMetaTable, META_CHAIN, META_FORK_TIMES } from '../meta.js'
import type { ChainReader } from './types.js'

/** The chain of a database, as stored in the meta table: a built-in network or a genesis in geth's format. */
export type ChainSource = (NetworkSource | GenesisSource) & {
  /** Times of forks that the operator set; stored separately. */
  forkTimes?: ForkTimes
}

/** A built-in chain by its name. */
interface NetworkSource {
  network: Network
  /** How a recorded chain differs from a whole one. */
  recording?: ChainRecording
}

/** A chain by its genesis. */
export interface GenesisSource {
  genesis: unknown
  /** How a recorded chain differs from a whole one. */
  recording?: ChainRecording
}

/** Metadata of a recorded fixture. */
export interface ChainRecording {
  /** False: only part of the chain's state is recorded, and no state root is compared. */
  verified: boolean
  /** The first available block, if it is not block 0. The accounts of the genesis are then the state after it. */
  first?: FirstBlock
}

/** A block that is stored as received, since the state before it is not available. */
export interface FirstBlock {
  /** RLP, as hex data. */
  block: string
  /** Receipt of each transaction, as in the receipts trie, as hex data. */
  receipts: string[]
  /** Total difficulty up to and including this block, as a hex quantity. */
  totalDifficulty: string
}

/** The chain in the meta table; undefined before the first import. */
export function readChainSource(db: Database): ChainSource | undefined {
  const meta = createMetaTable(db)
  const source = meta.get<ChainSource>(META_CHAIN)
  const forkTimes = source && meta.get<ForkTimes>(META_FORK_TIMES)
  return forkTimes === undefined ? source : { ...source!, forkTimes }
}

/** False for a database made from a recording without verified state; undefined before the first import. */
export function isVerifiedSource(db: Database): boolean | undefined {
  const source = readChainSource(db)
  return source && !isPartial(source)
}

/** Whether the state roots of all blocks were compared, as health and `cairn status` show it. */
interface Verification {
  /** Null before the first import. */
  readonly verified: boolean | null
  /** The first block from which on they were not compared; null when all were, or none of a recording. */
  readonly unverifiedFrom: number | null
}

/** Returns what was verified of the state in the database of `chain`. */
export function readVerification(db: Database, chain: ChainReader): Verification {
  const unverifiedFrom = chain.unverifiedFrom() ?? null
  const isVerified = isVerifiedSource(db)
  return { verified: isVerified === undefined ? null : isVerified && unverifiedFrom === null, unverifiedFrom }
}

/** The rules of the chain. @throws InvalidGenesis */
export function specOfSource(source: ChainSource): ChainSpec {
  const { forkTimes } = source
  const spec = 'network' in source ? builtInSpec(source.network) : parseGenesisSpec(source.genesis)
  const scheduled = forkTimes === undefined ? spec : withForkTimes(spec, forkTimes)
  return isPartial(source) ? { ...scheduled, hasPartialState: true } : scheduled
}

/** The full genesis of the chain, with its state. @throws InvalidGenesis */
export function genesisOfSource(source: ChainSource): Genesis {
  const genesis = 'network' in source ? builtInGenesis(source.network) : parseGenesis(source.genesis)
  return { ...genesis, spec: specOfSource(source) }
}

function isPartial(source: ChainSource): boolean {
  return 'recording' in source && source.recording?.verified === false
}
