export { FORKS, type Fork } from './all.js'
export type { BlobSchedule } from './fork.js'

import type { BftRules } from '../families/bft/bftRules.js'
import type { GnosisRules } from '../families/gnosis/gnosisRules.js'
import type { FamilyName } from '../families/name.js'
import type { OpRules } from '../families/op/opRules.js'
import { combineForks, FORK_DEFINITIONS, FORKS, type Fork, type ForkRules } from './all.js'
import type { BlobSchedule, ForkLists, ParameterChanges } from './fork.js'

/** A fork of a family that changes rules of Ethereum's forks. */
export interface FamilyFork {
  /** Not the name of another fork of the family. */
  readonly name: string
  /** Unix seconds; of the first block that has it. */
  readonly timestamp?: bigint
  /** Number of the first block that has it, where no time is set. */
  readonly block?: number
  readonly parameters?: Omit<ParameterChanges, 'storage'>
  /** Replaces lists of Ethereum's forks. */
  readonly lists?: Partial<ForkLists>
  /** Precompiles to add, with their names. */
  readonly precompiles?: ForkLists['precompiles']
}

/** Activation of a fork: at block `block`, or at time `timestamp` (Unix seconds). */
export interface ForkActivation {
  fork: Fork
  block?: number
  timestamp?: bigint
}

/** The rules of one chain: the genesis file without the state. */
export interface ChainSpec {
  name: string
  chainId: bigint
  /** Default: Ethereum. */
  family?: FamilyName
  /** Rules of the OP stack, for its chains. */
  op?: OpRules
  /** Rules of QBFT and IBFT 2.0, for their chains. */
  bft?: BftRules
  /** Rules of Gnosis, for its chains. */
  gnosis?: GnosisRules
  /** Rules of clique, for its chains: blocks between two lists of signers. */
  clique?: { epoch: number }
  /** In order of activation, starting with `frontier` at block 0. */
  activations: ForkActivation[]
  /** Proof of stake begins with the first block whose parent's total difficulty reaches this (EIP-3675). */
  terminalTotalDifficulty?: bigint
  /** True if the chain supports the DAO fork: balances move and ten blocks carry the mark. */
  daoForkSupport: boolean
  depositContract?: Uint8Array // 20, EIP-6110
  blobSchedules: { [K in Fork]?: BlobSchedule }
  /** Lowest price of a unit of blob gas in wei. Default: 1 (EIP-4844). */
  minBlobBaseFee?: bigint
  /** Forks of the family that change rules of Ethereum's forks, in order. */
  familyForks?: readonly FamilyFork[]
  /** Before proof of stake: Ethash difficulty and block rewards. */
  ethash: boolean
  /** A constant difficulty instead of Ethash's (Besu development chains). */
  fixedDifficulty?: bigint
  /** The chain of a development node such as anvil: clients may set timestamps, base fees and gas limits, system
   *  contracts may be missing, and block 0 need not commit to its state. No block is final. */
  isDevelopment?: boolean
  /** The development node makes no system calls before transactions (Hardhat): `config.omitsSystemCalls`. */
  omitsSystemCalls?: boolean
  /** The database was imported from a recording with only part of the chain's state: state roots are not compared. */
  hasPartialState?: boolean
  /** Time of block 0, Unix seconds; 0 when absent. Forks up to then are part of the genesis. */
  genesisTime?: bigint
  /** A fork without rules, which is part of the fork id (EIP-2124). */
  mergeNetsplitBlock?: number
  /** Times of forks without rules for blocks, which are part of the fork id. */
  otherForkTimes?: readonly bigint[]
  /** CRC-32 of the genesis hash, for built-in networks. */
  genesisChecksum?: number
}

/** True if the header's state root is that of the state: always, except for block 0 of a development chain and for a
 *  recording of part of the state. */
export function commitsToState({ isDevelopment, hasPartialState }: ChainSpec, blockNumber: number): boolean {
  return !hasPartialState && (!isDevelopment || blockNumber > 0)
}

/** What holds in a block: its active fork and what the forks up to it have added. */
export interface Rules extends ForkRules {
  fork: Fork
  /** The newest active fork of `ChainSpec.familyForks`. */
  familyFork?: string
  /** True when the active fork is `fork` or a later one. False for one that the chain omits (Amsterdam at Bogota). */
  has(fork: Fork): boolean
  /** Blob parameters in force; undefined before Cancun. */
  blobs?: BlobSchedule
  /** True when the block is under proof of stake (Paris and later). */
  isProofOfStake: boolean
  /** See `ChainSpec.omitsSystemCalls`. */
  omitsSystemCalls: boolean
}

const OPTIONAL = FORK_DEFINITIONS.filter(({ isOptional }) => isOptional).map(({ name }) => name)
const FIRST_WITH_BLOBS = FORK_DEFINITIONS.findIndex(({ blobs }) => blobs !== undefined)

/** Combined forks by the names of those that are active; kept, because rules are made for each block. */
const combined = new Map<string, ForkRules>()

/** Returns the rules with what the active forks of the family change. `prefix` is the key of the rules and the
 *  family. */
function withFamilyForks(rules: ForkRules, prefix: string, forks: readonly FamilyFork[]): ForkRules {
  const key = `${prefix} ${forks.map(({ name }) => name)}`
  let found = combined.get(key)
  if (found === undefined) {
    const parameters = Object.assign({}, ...forks.map((fork) => fork.parameters)) as Partial<ForkRules>
    const lists = Object.assign({}, ...forks.map((fork) => fork.lists)) as Partial<ForkLists>
    const added = forks.flatMap((fork) => fork.precompiles ?? [])
    const isKnown = (address: number) => rules.precompiles.some(([known]) => known === address)
    const precompiles = [...rules.precompiles, ...added.filter(([address]) => !isKnown(address))]
    found = { ...rules, ...parameters, ...lists, precompiles }
    combined.set(key, found)
  }
  return found
}

function rulesOfForks(order: number, omitted: readonly Fork[]): ForkRules {
  const key = `${order} ${omitted}`
  let found = combined.get(key)
  if (found === undefined) {
    found = combineForks(FORK_DEFINITIONS.slice(0, order + 1).filter(({ name }) => !omitted.includes(name)))
    combined.set(key, found)
  }
  return found
}

/** The rules of a block by number and time. If the chain names no merge block, the merge happens at the first block
 *  whose parent's total difficulty has reached the terminal one (EIP-3675); `parentTotalDifficulty` is needed there.
 *  Forks by time imply the merge. */
export function rulesAt(spec: ChainSpec, number: number, timestamp: bigint, parentTotalDifficulty?: bigint): Rules {
  let fork: Fork = 'frontier'
  let order = 0
  const omitted = OPTIONAL.slice()
  for (const activation of spec.activations) {
    const active =
      activation.timestamp !== undefined ? timestamp >= activation.timestamp : number >= (activation.block ?? 0)
    const position = FORKS.indexOf(activation.fork)
    if (active && omitted.includes(activation.fork)) omitted.splice(omitted.indexOf(activation.fork), 1)
    if (active && position > order) {
      fork = activation.fork
      order = position
    }
  }
  const paris = FORKS.indexOf('paris')
  const { terminalTotalDifficulty: terminal } = spec
  if (
    order < paris &&
    terminal !== undefined &&
    parentTotalDifficulty !== undefined &&
    parentTotalDifficulty >= terminal
  ) {
    fork = 'paris'
    order = paris
  }
  let blobs: BlobSchedule | undefined
  for (let i = FIRST_WITH_BLOBS; i <= order; i++) {
    blobs = spec.blobSchedules[FORKS[i]] ?? FORK_DEFINITIONS[i].blobs ?? blobs
  }
  if (blobs !== undefined && spec.minBlobBaseFee !== undefined) blobs = { ...blobs, minBaseFee: spec.minBlobBaseFee }
  const familyForks = spec.familyForks?.filter((each) =>
    each.timestamp === undefined ? number >= (each.block ?? 0) : timestamp >= each.timestamp,
  )
  const familyFork = familyForks?.at(-1)?.name
  const ofForks = rulesOfForks(order, omitted)
  return {
    ...(familyFork === undefined
      ? ofForks
      : withFamilyForks(ofForks, `${order} ${omitted} ${spec.family}`, familyForks!)),
    fork,
    familyFork,
    has: (other) => order >= FORKS.indexOf(other) && !omitted.includes(other),
    blobs,
    isProofOfStake: order >= paris,
    omitsSystemCalls: spec.omitsSystemCalls === true,
  }
}

/** The rules of a block outside the chain, such as an overridden one, as geth determines them: before London by number
 *  alone, regardless of time; afterwards `isProofOfStake` decides about the merge. */
export function rulesOfInvented(spec: ChainSpec, number: number, timestamp: bigint, isProofOfStake: boolean): Rules {
  const isOfWork = ({ fork, timestamp: time }: ForkActivation) => time === undefined && fork !== 'paris'
  const work = { ...spec, activations: spec.activations.filter(isOfWork), terminalTotalDifficulty: undefined }
  const byNumber = rulesAt(work, number, timestamp)
  if (!isProofOfStake || !byNumber.eip1559) return byNumber
  return rulesAt({ ...spec, terminalTotalDifficulty: 0n }, number, timestamp, 0n)
}
