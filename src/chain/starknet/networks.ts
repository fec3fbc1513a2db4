import { encodeShortString, type Felt } from './felt.js'

/** Names of the networks whose hash rules are known. */
export const L2_NETWORK_NAMES = [
  'mainnet',
  'sepolia',
  'goerli',
  'goerli2',
  'integration-goerli',
  'integration-sepolia',
] as const
export type L2NetworkName = (typeof L2_NETWORK_NAMES)[number]

/** Network parameters that affect block hashes. */
export interface L2Network {
  name: L2NetworkName
  /** Chain id as text; part of block hashes before 0.7. */
  chainId: string
  /** First block hashed by the rules of Starknet 0.7. */
  firstBlockOf07: number
  /** Sequencer in the hashes of blocks of 0.8.0 to 0.8.2, which do not name one. */
  fallbackSequencer?: Felt
  /** Inclusive range of blocks whose hashes cannot all be recomputed; a mismatch in it is not an error. */
  unverifiable?: { from: number; to: number; reason: string }
}

const GOERLI_FALLBACK_SEQUENCER = 0x046a89ae102987331d369645031b49c27738ed096f2789c24449966da4c6de6bn

/* Values on which Pathfinder (crates/pathfinder, block_hash.rs, BlockHashMetaInfo) and Juno (core/block.go,
 * blockHashMetaInfo) agree. */
const NETWORKS: Readonly<Record<L2NetworkName, L2Network>> = {
  mainnet: {
    name: 'mainnet',
    chainId: 'SN_MAIN',
    firstBlockOf07: 833,
    fallbackSequencer: 0x021f4b90b0377c82bf330b7b5295820769e72d79d8acd0effa0ebde6e9988bc5n,
  },
  sepolia: { name: 'sepolia', chainId: 'SN_SEPOLIA', firstBlockOf07: 0 },
  goerli: {
    name: 'goerli',
    chainId: 'SN_GOERLI',
    firstBlockOf07: 47028,
    fallbackSequencer: GOERLI_FALLBACK_SEQUENCER,
    unverifiable: { from: 119802, to: 148428, reason: 'hashed by Starknet 0.8 with sequencers that were not recorded' },
  },
  goerli2: {
    name: 'goerli2',
    chainId: 'SN_GOERLI2',
    firstBlockOf07: 0,
    fallbackSequencer: GOERLI_FALLBACK_SEQUENCER,
  },
  'integration-goerli': {
    name: 'integration-goerli',
    chainId: 'SN_GOERLI',
    firstBlockOf07: 110511,
    fallbackSequencer: GOERLI_FALLBACK_SEQUENCER,
    unverifiable: { from: 0, to: 110511, reason: 'hashed before Starknet 0.7 by rules that were not kept' },
  },
  'integration-sepolia': { name: 'integration-sepolia', chainId: 'SN_INTEGRATION_SEPOLIA', firstBlockOf07: 0 },
}

/** The hash rules of a network. */
export function getL2Network(name: L2NetworkName): L2Network {
  return NETWORKS[name]
}

/** The network with this name; all networks without a name. */
export function candidateNetworks(name: L2NetworkName | undefined): L2Network[] {
  return name === undefined ? Object.values(NETWORKS) : [NETWORKS[name]]
}

/** A chain id such as SN_MAIN as a felt, the result of `starknet_chainId`. */
export function encodeChainId(chainId: string): Felt {
  return encodeShortString(chainId)
}

/** The distinct chain ids of all networks, as text. */
export function knownChainIds(): string[] {
  return [...new Set(Object.values(NETWORKS).map(({ chainId }) => chainId))]
}
