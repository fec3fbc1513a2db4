/** Hard forks in order, named as in geth's genesis file. BPO forks (EIP-7892) change only blob parameters. */
export const FORKS = [
  'frontier',
  'homestead',
  'dao',
  'tangerineWhistle',
  'spuriousDragon',
  'byzantium',
  'constantinople',
  'petersburg',
  'istanbul',
  'muirGlacier',
  'berlin',
  'london',
  'arrowGlacier',
  'grayGlacier',
  'paris',
  'shanghai',
  'cancun',
  'prague',
  'osaka',
  'bpo1',
  'bpo2',
  'bpo3',
  'bpo4',
  'bpo5',
  'amsterdam',
  // A fork of geth's development chain, which omits Amsterdam: it has only Amsterdam's instructions and gas prices.
  'bogota',
] as const
export type Fork = (typeof FORKS)[number]

/** Blob parameters of a fork (EIP-7840): `target` and `max` are counts of blobs. */
export interface BlobSchedule {
  target: number
  max: number
  baseFeeUpdateFraction: bigint
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
  /** In order of activation, starting with `frontier` at block 0. */
  activations: ForkActivation[]
  /** Proof of stake begins with the first block whose parent's total difficulty reaches this (EIP-3675). */
  terminalTotalDifficulty?: bigint
  /** True if the chain supports the DAO fork: balances move and ten blocks carry the mark. */
  daoForkSupport: boolean
  depositContract?: Uint8Array // 20, EIP-6110
  blobSchedules: { [K in Fork]?: BlobSchedule }
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
  /** CRC-32 of the genesis hash, for built-in networks. */
  genesisChecksum?: number
}

/** True if the header's state root is that of the state: always, except for block 0 of a development chain and for a
 *  recording of part of the state. */
export function commitsToState({ isDevelopment, hasPartialState }: ChainSpec, blockNumber: number): boolean {
  return !hasPartialState && (!isDevelopment || blockNumber > 0)
}

/** The active fork of a block. */
export interface Rules {
  fork: Fork
  /** True when the active fork is `fork` or a later one. False for Amsterdam at Bogota if the chain omits Amsterdam. */
  has(fork: Fork): boolean
  /** Blob parameters in force; undefined before Cancun. */
  blobs?: BlobSchedule
  /** True when the block is under proof of stake (Paris and later). */
  isProofOfStake: boolean
  /** See `ChainSpec.omitsSystemCalls`. */
  omitsSystemCalls: boolean
}

const DEFAULT_BLOB_SCHEDULES: { [K in Fork]?: BlobSchedule } = {
  cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3338477n }, // EIP-4844
  prague: { target: 6, max: 9, baseFeeUpdateFraction: 5007716n }, // EIP-7691
}

/** The rules of a block by number and time. If the chain names no merge block, the merge happens at the first block
 *  whose parent's total difficulty has reached the terminal one (EIP-3675); `parentTotalDifficulty` is needed there.
 *  Forks by time imply the merge. */
export function rulesAt(spec: ChainSpec, number: number, timestamp: bigint, parentTotalDifficulty?: bigint): Rules {
  let fork: Fork = 'frontier'
  let order = 0
  let omitsAmsterdam = true
  for (const activation of spec.activations) {
    const active =
      activation.timestamp !== undefined ? timestamp >= activation.timestamp : number >= (activation.block ?? 0)
    const position = FORKS.indexOf(activation.fork)
    if (active && activation.fork === 'amsterdam') omitsAmsterdam = false
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
  for (let i = FORKS.indexOf('cancun'); i <= order; i++) {
    blobs = spec.blobSchedules[FORKS[i]] ?? DEFAULT_BLOB_SCHEDULES[FORKS[i]] ?? blobs
  }
  return {
    fork,
    has: (other) => order >= FORKS.indexOf(other) && !(omitsAmsterdam && other === 'amsterdam'),
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
  if (!isProofOfStake || !byNumber.has('london')) return byNumber
  return rulesAt({ ...spec, terminalTotalDifficulty: 0n }, number, timestamp, 0n)
}
