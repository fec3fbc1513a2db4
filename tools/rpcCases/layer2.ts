import { readFileSync } from 'node:fs'
import { packagePath } from '../../src/store/open.js'
import { type CasesByMethod, named, positional } from './case.js'

/** Cases of the layer-2 methods: blocks 0 to 7, accepted on layer 1 up to 3 (block 7 is whole), and an unconfirmed
 *  block on top. */
export function layer2Cases(): CasesByMethod {
  const lines = readFileSync(packagePath('fixtures/chain/l2.ndjson'), 'utf8').trim().split('\n')
  const hashOf = (number: number) => (JSON.parse(lines[number]) as { block_hash: string }).block_hash
  const transactionOf = (number: number) => (JSON.parse(lines[number]) as { transactions: string[] }).transactions[0]
  const newest = JSON.parse(lines[7]) as { block: { transactions: { receipt: { transaction_hash: string } }[] } }
  const wholeTransaction = newest.block.transactions[0].receipt.transaction_hash
  const id = (block_id: unknown) => named({ block_id })
  return {
    zk_getBlockWithTxHashes: {
      'first-by-number': id({ block_number: 0 }),
      'accepted-on-l1': id({ block_number: 3 }),
      'accepted-on-l2-by-hash': id({ block_hash: hashOf(4) }),
      'latest-tag': id('latest'),
      'latest-in-object': id({ block_tag: 'latest' }),
      pending: id('pending'),
      'by-position': positional({ block_number: 1 }),
      'beyond-head': id({ block_number: 8 }),
      'from-2-53': id({ block_number: 2 ** 53 }),
      'beyond-2-64': id({ block_number: 2 ** 70 }),
      'unknown-hash': id({ block_hash: '0x123' }),
      'two-selectors': id({ block_number: 1, block_hash: hashOf(1) }),
      'unknown-tag': id('earliest'),
      'negative-number': id({ block_number: -1 }),
      'hex-number': id({ block_number: '0x1' }),
      'bad-hash': id({ block_hash: 'zk' }),
      'missing-id': named({}),
      'unknown-name': named({ block: 'latest' }),
    },
    starknet_getBlockWithTxHashes: {
      'by-number': id({ block_number: 2 }),
      'by-hash': id({ block_hash: hashOf(6) }),
      latest: id('latest'),
      'l1-accepted': id('l1_accepted'),
      'pre-confirmed': id('pre_confirmed'),
      'by-position': positional('latest'),
      'beyond-head': id({ block_number: 8 }),
      'from-2-53': id({ block_number: 2 ** 53 }),
      'beyond-2-64': id({ block_number: 2 ** 70 }),
      'unknown-hash': id({ block_hash: '0x123' }),
      'unknown-tag': id('newest'),
    },
    starknet_getBlockTransactionCount: {
      'by-number': id({ block_number: 3 }),
      'pre-confirmed': id('pre_confirmed'),
      'beyond-head': id({ block_number: 8 }),
      'from-2-53': id({ block_number: 2 ** 53 }),
      'beyond-2-64': id({ block_number: 2 ** 70 }),
    },
    starknet_getBlockWithTxs: {
      latest: id('latest'),
      'no-transactions': id({ block_number: 0 }),
      'not-recorded': id({ block_number: 2 }),
      'beyond-head': id({ block_number: 8 }),
    },
    starknet_getBlockWithReceipts: {
      latest: id('latest'),
      'no-transactions': id({ block_number: 0 }),
      'not-recorded': id({ block_number: 2 }),
      'beyond-head': id({ block_number: 8 }),
    },
    starknet_getTransactionByHash: {
      newest: named({ transaction_hash: wholeTransaction }),
      'not-recorded': positional(transactionOf(2)),
      unknown: named({ transaction_hash: '0x123' }),
      'bad-hash': named({ transaction_hash: 'zk' }),
    },
    starknet_getTransactionByBlockIdAndIndex: {
      newest: named({ block_id: 'latest', index: 0 }),
      'not-recorded': named({ block_id: { block_number: 2 }, index: 0 }),
      'index-beyond-block': named({ block_id: { block_number: 2 }, index: 9 }),
      'negative-index': named({ block_id: { block_number: 2 }, index: -1 }),
      'beyond-head': positional({ block_number: 8 }, 0),
    },
    starknet_getTransactionReceipt: {
      newest: named({ transaction_hash: wholeTransaction }),
      'not-recorded': positional(transactionOf(2)),
      unknown: named({ transaction_hash: '0x123' }),
    },
    starknet_getTransactionStatus: {
      'accepted-on-l1': positional(transactionOf(2)),
      'accepted-on-l2': positional(transactionOf(6)),
      unknown: named({ transaction_hash: '0x123' }),
    },
    starknet_getStateUpdate: {
      latest: id('latest'),
      'not-recorded': id({ block_number: 2 }),
      'beyond-head': id({ block_number: 8 }),
    },
    starknet_getEvents: {
      newest: named({ filter: { chunk_size: 10, from_block: { block_number: 7 }, to_block: 'latest' } }),
      'not-recorded': named({ filter: { chunk_size: 10 } }),
      'block-without-transactions': named({ filter: { chunk_size: 10, to_block: { block_number: 0 } } }),
      'page-too-big': named({ filter: { chunk_size: 1025 } }),
      'too-many-keys': named({ filter: { chunk_size: 1, keys: Array.from({ length: 17 }, () => []) } }),
      'bad-token': named({ filter: { chunk_size: 1, continuation_token: 'more' } }),
      'unknown-block': named({ filter: { chunk_size: 1, from_block: { block_hash: '0x123' } } }),
      'no-chunk-size': named({ filter: {} }),
    },
    starknet_blockNumber: { head: positional(), 'too-many': positional(1) },
    starknet_blockHashAndNumber: { head: positional(), 'too-many': positional(1) },
    starknet_chainId: { 'not-known': positional(), 'too-many': positional(1) },
    starknet_specVersion: { version: positional(), 'too-many': positional(1) },
    starknet_syncing: { never: positional(), 'too-many': positional(1) },
    starknet_subscribeNewHeads: {
      'l1-accepted': id('l1_accepted'),
      'two-selectors': id({ block_number: 1, block_hash: '0x1' }),
    },
    starknet_unsubscribe: { missing: positional(), unknown: positional('0x1') },
  }
}
