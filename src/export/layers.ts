import { decodeShortString, encodeFelt } from '../chain/starknet/felt.js'
import type { StoredL2Block } from '../store/l2/l2Reader.js'
import type { StoredBlockLink } from '../store/rows/exportRows.js'
import type { ExportedBlock, Layer } from './dataset.js'

/* Network names by chain id: the prefixes of cryo's files. */
const NETWORKS: { readonly [chainId: string]: string } = {
  '1': 'ethereum',
  '5': 'goerli',
  '10': 'optimism',
  '56': 'bnb',
  '100': 'gnosis',
  '137': 'polygon',
  '8453': 'base',
  '17000': 'holesky',
  '42161': 'arbitrum',
  '43114': 'avalanche',
  '11155111': 'sepolia',
  '11155420': 'optimism_sepolia',
  '84532': 'base_sepolia',
}

/** Ethereum blocks. */
export const LAYER_1: Layer<StoredBlockLink> = {
  name: 'Ethereum',
  chainId: ({ chain }) => (chain.holdsBlocks() ? String(chain.chainId()) : undefined),
  network: ({ chain }) => NETWORKS[String(chain.chainId())] ?? `network_${chain.chainId()}`,
  coverage: ({ chain }) => {
    const held = chain.coverage()
    return held && { first: held.first, head: held.head, final: chain.finality()!.finalized }
  },
  blocks: ({ rows }, from, to) => rows.links(from, to),
  hashAt: ({ chain }, number) => chain.blockHash(number),
}

/** A layer-2 block with its links. */
export interface L2Link extends ExportedBlock {
  readonly block: StoredL2Block
}

/** Starknet blocks. Numbers may have gaps. */
export const LAYER_2: Layer<L2Link> = {
  name: 'layer-2',
  chainId: ({ l2 }) => {
    const id = l2.chainId()
    return id === undefined ? undefined : decodeShortString(id)
  },
  network: ({ l2 }) => {
    const id = l2.chainId()
    const text = id === undefined ? 'SN_MAIN' : decodeShortString(id)
    return text === 'SN_MAIN' ? 'starknet' : `starknet_${text.replace(/^SN_/, '').replace(/\W/g, '_').toLowerCase()}`
  },
  coverage: ({ l2 }) => {
    const [first, head] = [l2.first(), l2.head()]
    return first && head && { first: first.number, head: head.number, final: l2.blockAcceptedOnL1()?.number ?? -1 }
  },
  blocks: ({ l2 }, from, to) => {
    const blocks: L2Link[] = []
    for (let number = from; number <= to; number++) {
      const block = l2.blockByNumber(number)
      if (block === undefined) continue
      blocks.push({ number, hash: encodeFelt(block.hash), parentHash: encodeFelt(block.parentHash), block })
    }
    return blocks
  },
  hashAt: ({ l2 }, number) => {
    const head = l2.head()
    const block = head !== undefined && number <= head.number ? l2.atOrBelow(number) : undefined
    return block && encodeFelt(block.hash)
  },
}
