import { hashHeader } from '../../../src/chain/eth/header.js'
import { EMPTY_TRIE_ROOT } from '../../../src/chain/eth/trie.js'
import type { Block, Header } from '../../../src/chain/eth/types.js'

/** An empty block of that number, as far as the store asks: its hash is its header's, its parent is not looked up. */
export function blockAt(number: number): Block {
  const header: Header = {
    parentHash: new Uint8Array(32),
    unclesHash: new Uint8Array(32),
    miner: new Uint8Array(20),
    stateRoot: new Uint8Array(32),
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: 0n,
    number,
    gasLimit: 30_000_000n,
    gasUsed: 0n,
    timestamp: BigInt(number),
    extraData: new Uint8Array(0),
    mixHash: new Uint8Array(32),
    nonce: new Uint8Array(8),
  }
  return { hash: hashHeader(header), header, transactions: [], uncles: [], sizeBytes: 0 }
}
