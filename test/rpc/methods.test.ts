import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RpcContext } from '../../src/rpc/core/context.js'
import type { JsonBytes } from '../../src/rpc/core/method.js'
import { ALL_METHODS, METHODS } from '../../src/rpc/methods.js'

/** What a client of the contract, and the usual libraries beside it, ask for. */
const WANTED = `eth_getLogs eth_getTransactionByBlockNumberAndIndex eth_getUncleByBlockHashAndIndex eth_getBlockByNumber
  eth_getBlockReceipts eth_getTransactionReceipt eth_call zk_getBlockWithTxHashes eth_chainId net_version net_listening
  web3_clientVersion web3_sha3 eth_blockNumber eth_syncing eth_capabilities eth_accounts eth_getBlockByHash eth_getTransactionByHash
  eth_getTransactionByBlockHashAndIndex eth_getBlockTransactionCountByHash eth_getBlockTransactionCountByNumber
  eth_getUncleByBlockNumberAndIndex eth_getUncleCountByBlockHash eth_getUncleCountByBlockNumber eth_getBalance
  eth_getCode eth_getStorageAt eth_getTransactionCount eth_estimateGas eth_gasPrice eth_maxPriorityFeePerGas
  eth_blobBaseFee eth_feeHistory debug_getRawBlock debug_getRawHeader debug_getRawReceipts debug_getRawTransaction
  rpc_modules rpc_discover starknet_getBlockWithTxHashes starknet_specVersion starknet_chainId starknet_blockNumber
  starknet_blockHashAndNumber starknet_getBlockTransactionCount starknet_syncing starknet_subscribeNewHeads starknet_unsubscribe
  eth_subscribe eth_unsubscribe eth_newFilter eth_newBlockFilter eth_newPendingTransactionFilter eth_getFilterChanges
  eth_getFilterLogs eth_uninstallFilter`.split(/\s+/)

interface OpenRpc {
  openrpc: string
  info: { title: string; version: string }
  methods: { name: string; params: { name: string; schema: object; required: boolean }[]; result: object }[]
}

test('every method that the issue names is served, once', () => {
  assert.deepEqual(
    WANTED.filter((name) => !METHODS.has(name)),
    [],
  )
  assert.equal(METHODS.size, ALL_METHODS.length)
})

test('rpc_discover describes every method with its parameters', () => {
  const { bytes } = METHODS.get('rpc_discover')!.handler({} as RpcContext) as JsonBytes
  const document = JSON.parse(Buffer.from(bytes).toString()) as OpenRpc
  assert.match(document.openrpc, /^1\./)
  assert.deepEqual(new Set(document.methods.map(({ name }) => name)), new Set(METHODS.keys()))
  for (const { name, params } of document.methods) {
    const firstOptional = params.findIndex(({ required }) => !required)
    assert.ok(
      firstOptional < 0 || params.slice(firstOptional).every(({ required }) => !required),
      `${name}: an optional parameter before a required one`,
    )
    assert.equal(new Set(params.map((param) => param.name)).size, params.length, `${name}: names twice`)
  }
})

test('rpc_modules lists the families', () => {
  assert.deepEqual(METHODS.get('rpc_modules')!.handler({} as RpcContext), {
    admin: '1.0',
    cairn: '1.0',
    debug: '1.0',
    erigon: '1.0',
    eth: '1.0',
    net: '1.0',
    ots: '1.0',
    rpc: '1.0',
    starknet: '1.0',
    trace: '1.0',
    txpool: '1.0',
    web3: '1.0',
    zk: '1.0',
  })
})
