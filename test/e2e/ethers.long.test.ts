import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  AbiCoder,
  Contract,
  isCallException,
  JsonRpcProvider,
  keccak256,
  Network,
  Transaction,
  WebSocketProvider,
} from 'ethers'
import { serveFixture } from '../support/cairn.js'
import * as fixture from '../support/chains/fixtureChain.js'

/* ethers, which batches calls by itself, against the program. */

const server = await serveFixture({ after })
const network = Network.from(fixture.CHAIN_ID)
type Provider = JsonRpcProvider | WebSocketProvider
const PROVIDERS: [string, Provider][] = [
  ['HTTP', new JsonRpcProvider(server.url, network, { staticNetwork: network })],
  ['WebSocket', new WebSocketProvider(server.socketUrl, network, { staticNetwork: network })],
]
after(async () => {
  for (const [, provider] of PROVIDERS) await provider.destroy()
})

/** Runs the test with each transport. */
function testBoth(name: string, body: (provider: Provider) => Promise<void>): void {
  for (const [transport, provider] of PROVIDERS) test(`ethers ${name}, over ${transport}`, () => body(provider))
}

test('ethers finds the network out by itself', async () => {
  const provider = new JsonRpcProvider(server.url)
  assert.equal((await provider.getNetwork()).chainId, BigInt(fixture.CHAIN_ID))
  provider.destroy()
})

testBoth('reads blocks and their transactions', async (provider) => {
  assert.equal(await provider.getBlockNumber(), fixture.HEAD)
  const types = new Set<number>()
  const numbers = Array.from({ length: fixture.HEAD + 1 }, (_, number) => number)
  const blocks = await Promise.all(numbers.map((number) => provider.getBlock(number, true)))
  for (const [number, block] of blocks.entries()) {
    assert.equal(block!.number, number)
    if (number > 0) assert.equal(block!.parentHash, blocks[number - 1]!.hash)
    for (const transaction of block!.prefetchedTransactions) {
      types.add(transaction.type)
      const byHash = await provider.getTransaction(transaction.hash)
      assert.deepEqual(byHash!.toJSON(), transaction.toJSON())
    }
  }
  assert.deepEqual([...types].sort(), [0, 1, 2, 3, 4])
  const byHash = await provider.getBlock(blocks[30]!.hash!)
  assert.equal(byHash!.number, 30)
  assert.equal(await provider.getBlock(fixture.HEAD + 1), null)
})

testBoth('computes the hash and the sender of every transaction from its fields', async (provider) => {
  const senders = [fixture.ALICE, fixture.BOB, fixture.CAROL]
  for (let number = 1; number <= fixture.HEAD; number++) {
    const block = (await provider.getBlock(number, true))!
    assert.equal(block.prefetchedTransactions.length, block.length)
    for (const served of block.prefetchedTransactions) {
      const computed = Transaction.from(served)
      assert.equal(computed.hash, served.hash)
      assert.equal(computed.from, served.from)
      assert.ok(senders.includes(served.from.toLowerCase()))
      assert.equal(await provider.send('debug_getRawTransaction', [served.hash]), computed.serialized)
    }
  }
})

testBoth('reads receipts', async (provider) => {
  const block = (await provider.getBlock(16))!
  const deployed = (await provider.getTransactionReceipt(block.transactions[0]))!
  assert.deepEqual(
    [deployed.contractAddress!.toLowerCase(), deployed.status, deployed.to, deployed.gasUsed],
    [fixture.FACTORY, 1, null, 85_134n],
  )
  const minted = (await provider.getTransactionReceipt(block.transactions[1]))!
  assert.deepEqual([minted.logs.length, minted.logs[0].index, minted.index], [1, 0, 1])
  const old = (await provider.getTransactionReceipt((await provider.getBlock(2))!.transactions[0]))!
  assert.match(old.root!, /^0x[0-9a-f]{64}$/)
  const failed = (await provider.getTransactionReceipt((await provider.getBlock(21))!.transactions[0]))!
  assert.equal(failed.status, 0)
})

testBoth('reads logs by event', async (provider) => {
  const token = new Contract(fixture.TOKEN, fixture.ABI, provider)
  const events = await token.queryFilter('Transfer', 0, 'latest')
  const transfers = events.map((event) => {
    assert.ok('args' in event)
    const { from, to, value } = event.args
    return { block: event.blockNumber, from: from.toLowerCase(), to: to.toLowerCase(), value }
  })
  assert.deepEqual(transfers, fixture.TRANSFERS)
  const fromBob = await token.queryFilter(token.filters.Transfer(fixture.BOB))
  assert.deepEqual(
    fromBob.map(({ blockNumber }) => blockNumber),
    [26, 31],
  )
  const emitter = new Contract(fixture.EMITTER, fixture.ABI, provider)
  const numbered = await emitter.queryFilter(emitter.filters.Numbered(7, null, [0, 4200]), 54)
  assert.deepEqual(
    numbered.map(({ blockNumber, index }) => [blockNumber, index]),
    [
      [54, 7],
      [56, 7],
    ],
  )
  await assert.rejects(provider.getLogs({ fromBlock: 0, toBlock: 60 }), /query returned more than 10000 results/)
})

testBoth('calls contracts at every height', async (provider) => {
  const token = new Contract(fixture.TOKEN, fixture.ABI, provider)
  assert.deepEqual([await token.name(), await token.symbol(), await token.decimals()], ['Cairn Stone', 'STONE', 18n])
  for (const [holder, balance] of Object.entries(fixture.BALANCES)) {
    assert.equal(await token.balanceOf(holder), balance)
  }
  assert.equal(await token.totalSupply({ blockTag: 15 }), 0n)
  assert.equal(await token.totalSupply({ blockTag: 16 }), 1000n * fixture.ETHER)
  assert.equal(await token.balanceOf(fixture.ALICE, { blockTag: 21 }), 1000n * fixture.ETHER)
  assert.equal(await token.balanceOf(fixture.ALICE, { blockTag: 'finalized' }), fixture.BALANCES[fixture.ALICE])
  const { hash } = (await provider.getBlock(22))!
  const call = { to: fixture.TOKEN, data: token.interface.encodeFunctionData('balanceOf', [fixture.BOB]) }
  assert.equal(BigInt(await provider.send('eth_call', [call, { blockHash: hash }])), 25n * fixture.ETHER)
})

/** What ethers read out of a failed call. */
async function revertOf(provider: Provider, name: string) {
  const contract = new Contract(fixture.REVERTER, fixture.ABI, provider)
  const error: unknown = await contract[name]({ from: fixture.CAROL }).then(() => undefined, (thrown: unknown) => thrown) // biome-ignore format: one
  assert.ok(isCallException(error), String(error))
  return error
}

testBoth('decodes reverts', async (provider) => {
  assert.equal((await revertOf(provider, 'failString')).reason, 'not allowed')
  const panic = await revertOf(provider, 'failPanic')
  assert.deepEqual([panic.revert!.name, panic.revert!.args[0]], ['Panic', 17])
  const custom = await revertOf(provider, 'failCustom')
  assert.equal(custom.revert!.name, 'NotAllowed')
  assert.deepEqual([custom.revert!.args[0].toLowerCase(), custom.revert!.args[1]], [fixture.CAROL, 42n])
  const empty = await revertOf(provider, 'failEmpty')
  assert.deepEqual([empty.data, empty.revert], ['0x', null])
})

testBoth('estimates gas and reads fees', async (provider) => {
  assert.equal(await provider.estimateGas({ from: fixture.ALICE, to: fixture.BOB, value: 1n }), 21_000n)
  const token = new Contract(fixture.TOKEN, fixture.ABI, provider)
  const gas = await token.transfer.estimateGas(fixture.CAROL, 1n, { from: fixture.ALICE })
  assert.ok(gas > 30_000n && gas < 50_000n, `${gas}`) // 42,428 by Amsterdam's prices
  await assert.rejects(
    token.transfer.estimateGas(fixture.CAROL, 1n, { from: fixture.ABSENT_ACCOUNT }),
    /insufficient balance/,
  )
  const { gasPrice, maxPriorityFeePerGas } = await provider.getFeeData()
  assert.equal(maxPriorityFeePerGas, 1_000_000_000n)
  assert.ok(gasPrice! > 1_000_000_000n)
})

testBoth('reads accounts at every height', async (provider) => {
  assert.equal(await provider.getTransactionCount(fixture.BOB, 4), 1)
  assert.equal(await provider.getBalance(fixture.BOB, 0), 1000n * fixture.ETHER)
  assert.equal(await provider.getBalance(fixture.BOB, 1), 1001n * fixture.ETHER)
  assert.equal(await provider.getCode(fixture.TOKEN, 14), '0x')
  assert.notEqual(await provider.getCode(fixture.TOKEN, 15), '0x')
  // The holder's balance is at keccak-256 of the holder and slot 0.
  const slot = keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [fixture.BOB, 0n]))
  assert.equal(BigInt(await provider.getStorage(fixture.TOKEN, slot, 21)), 0n)
  assert.equal(BigInt(await provider.getStorage(fixture.TOKEN, slot)), fixture.BALANCES[fixture.BOB])
})
