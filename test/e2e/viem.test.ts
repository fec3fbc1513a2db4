import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createPublicClient,
  defineChain,
  http,
  keccak256,
  type PublicClient,
  parseAbi,
  webSocket,
} from 'viem'
import { serveFixture } from '../support/cairn.js'
import * as fixture from '../support/chains/fixtureChain.js'

/* viem, a client library that decodes every answer by the specification, against the program. */

const server = await serveFixture({ after })
const abi = parseAbi(fixture.ABI)
const chain = defineChain({
  id: fixture.CHAIN_ID,
  name: 'Cairn fixture',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [server.url] } },
})
const socket = webSocket(server.socketUrl, { reconnect: false, keepAlive: false })
const CLIENTS: [string, PublicClient][] = [
  ['HTTP', createPublicClient({ chain, transport: http(server.url, { retryCount: 0 }) })],
  ['WebSocket', createPublicClient({ chain, transport: socket })],
]
after(async () => {
  const client = await socket({ chain }).value!.getRpcClient()
  client.close()
})

/** Runs the test with each transport. */
function testBoth(name: string, body: (client: PublicClient) => Promise<void>): void {
  for (const [transport, client] of CLIENTS) test(`viem ${name}, over ${transport}`, () => body(client))
}

testBoth('knows the chain and its head', async (client) => {
  assert.equal(await client.getChainId(), fixture.CHAIN_ID)
  assert.equal(await client.getBlockNumber({ cacheTime: 0 }), BigInt(fixture.HEAD))
})

testBoth('reads every block, with and without its transactions', async (client) => {
  let parentHash: string | undefined
  const types = new Set<string>()
  for (let number = 0n; number <= BigInt(fixture.HEAD); number++) {
    const block = await client.getBlock({ blockNumber: number, includeTransactions: true })
    const bare = await client.getBlock({ blockHash: block.hash })
    assert.equal(block.number, number)
    if (parentHash !== undefined) assert.equal(block.parentHash, parentHash)
    assert.deepEqual(
      bare.transactions,
      block.transactions.map(({ hash }) => hash),
    )
    assert.equal(await client.getBlockTransactionCount({ blockNumber: number }), block.transactions.length)
    for (const [index, transaction] of block.transactions.entries()) {
      types.add(transaction.type)
      assert.equal(transaction.transactionIndex, index)
      const { hash } = transaction
      const [byHash, byIndex] = [
        await client.getTransaction({ hash }),
        await client.getTransaction({ blockHash: block.hash, index }),
      ]
      assert.deepEqual(byHash, transaction)
      assert.deepEqual(byIndex, transaction)
    }
    parentHash = block.hash
  }
  assert.deepEqual(types, new Set(['legacy', 'eip2930', 'eip1559', 'eip4844', 'eip7702']))
})

testBoth('reads the tags and the pending block', async (client) => {
  for (const blockTag of ['latest', 'safe', 'finalized'] as const) {
    assert.equal((await client.getBlock({ blockTag })).number, BigInt(fixture.HEAD))
  }
  assert.equal((await client.getBlock({ blockTag: 'earliest' })).number, 0n)
  const pending = await client.getBlock({ blockTag: 'pending' })
  assert.equal(pending.hash, null)
  assert.equal(pending.number, null)
  assert.equal(pending.parentHash, (await client.getBlock()).hash)
})

testBoth('reads the fields of typed transactions', async (client) => {
  const first = async (blockNumber: bigint) => client.getTransaction({ blockNumber, index: 0 })
  const withAccessList = await first(22n)
  assert.equal(withAccessList.type, 'eip2930')
  assert.deepEqual(withAccessList.accessList, [{ address: fixture.TOKEN, storageKeys: [`0x${'2'.padStart(64, '0')}`] }])
  const withBlobs = await first(37n)
  assert.equal(withBlobs.type, 'eip4844')
  assert.equal(withBlobs.blobVersionedHashes!.length, 2)
  assert.equal(withBlobs.maxFeePerBlobGas, 1_000_000_000n)
  const withDelegation = await first(40n)
  assert.equal(withDelegation.type, 'eip7702')
  const [{ address, chainId, nonce }] = withDelegation.authorizationList!
  assert.deepEqual({ address, chainId, nonce }, { address: fixture.TOKEN, chainId: fixture.CHAIN_ID, nonce: 0 })
  assert.equal((await first(1n)).chainId, undefined) // signed before EIP-155
  assert.equal((await first(8n)).chainId, fixture.CHAIN_ID)
})

testBoth('reads receipts', async (client) => {
  const receiptOf = async (blockNumber: bigint, index = 0) => {
    const { hash } = await client.getTransaction({ blockNumber, index })
    return client.getTransactionReceipt({ hash })
  }
  const beforeByzantium = await receiptOf(2n)
  assert.equal(beforeByzantium.contractAddress, fixture.EMITTER)
  assert.match(beforeByzantium.root!, /^0x[0-9a-f]{64}$/)
  const failed = await receiptOf(21n, 4) // INVALID takes all gas
  assert.deepEqual([failed.status, failed.gasUsed], ['reverted', 200_000n])
  const withBlobs = await receiptOf(37n)
  assert.deepEqual([withBlobs.blobGasUsed, withBlobs.blobGasPrice], [2n * 131_072n, 1n])
  const transfer = await receiptOf(31n, 1)
  assert.equal(transfer.status, 'success')
  assert.equal(transfer.cumulativeGasUsed, 2n * transfer.gasUsed)
  assert.deepEqual([transfer.logs.length, transfer.logs[0].logIndex], [1, 1])
})

testBoth('reads logs by event', async (client) => {
  const logs = await client.getContractEvents({
    abi,
    address: fixture.TOKEN,
    eventName: 'Transfer',
    fromBlock: 'earliest',
    strict: true,
  })
  const transfers = logs.map(({ blockNumber, args }) => ({
    block: Number(blockNumber),
    from: args.from.toLowerCase(),
    to: args.to.toLowerCase(),
    value: args.value,
  }))
  assert.deepEqual(transfers, fixture.TRANSFERS)
  const toBob = await client.getContractEvents({
    abi,
    eventName: 'Transfer',
    args: { to: fixture.BOB },
    fromBlock: 0n,
    toBlock: 33n,
  })
  assert.deepEqual(
    toBob.map(({ blockNumber }) => blockNumber),
    [22n, 31n],
  )
  const numbered = await client.getContractEvents({
    abi,
    address: fixture.EMITTER,
    eventName: 'Numbered',
    args: { number: [1n, 2099n], caller: fixture.BOB },
    fromBlock: 50n,
  })
  assert.deepEqual(
    numbered.map(({ blockNumber, logIndex }) => [blockNumber, logIndex]),
    [55n, 58n].flatMap((number) => [1, 2099].map((logIndex) => [number, logIndex])),
  )
  const { hash: blockHash } = await client.getBlock({ blockNumber: 5n })
  const inBlock = await client.getLogs({ blockHash })
  assert.deepEqual(
    inBlock.map(({ address, topics, data }) => [address, topics.length, data.length]),
    [
      [fixture.COUNTER, 1, 66],
      [fixture.EMITTER, 0, 16],
      [fixture.EMITTER, 0, 16],
    ],
  )
})

testBoth('calls contracts at every height', async (client) => {
  const token = { abi, address: fixture.TOKEN } as const
  assert.equal(await client.readContract({ ...token, functionName: 'name' }), 'Cairn Stone')
  assert.equal(await client.readContract({ ...token, functionName: 'symbol' }), 'STONE')
  assert.equal(await client.readContract({ ...token, functionName: 'decimals' }), 18)
  for (const [holder, balance] of Object.entries(fixture.BALANCES)) {
    const args = [holder as `0x${string}`] as const
    assert.equal(await client.readContract({ ...token, functionName: 'balanceOf', args }), balance)
  }
  for (let blockNumber = 15n; blockNumber <= 36n; blockNumber++) {
    const held = fixture.TRANSFERS.filter(({ block }) => BigInt(block) <= blockNumber).reduce(
      (sum, { from, to, value }) => sum + (to === fixture.BOB ? value : 0n) - (from === fixture.BOB ? value : 0n),
      0n,
    )
    const args = [fixture.BOB] as const
    assert.equal(await client.readContract({ ...token, functionName: 'balanceOf', args, blockNumber }), held)
    const supply = await client.readContract({ ...token, functionName: 'totalSupply', blockNumber })
    assert.equal(supply, blockNumber < 16n ? 0n : 1000n * fixture.ETHER)
  }
  await assert.rejects(client.readContract({ ...token, functionName: 'totalSupply', blockNumber: 14n }), (error) => {
    return (error as BaseError).walk((each) => each instanceof ContractFunctionZeroDataError) !== null
  })
})

testBoth('calls delegated code while the delegation lasts', async (client) => {
  const call = { abi, address: fixture.DELEGATOR, functionName: 'decimals' } as const
  assert.equal(await client.readContract({ ...call, blockNumber: 45n }), 18)
  await assert.rejects(client.readContract({ ...call, blockNumber: 46n }), /returned no data/)
  assert.equal(
    await client.getCode({ address: fixture.DELEGATOR, blockNumber: 40n }),
    `0xef0100${fixture.TOKEN.slice(2)}`,
  )
  assert.equal(await client.getCode({ address: fixture.DELEGATOR, blockNumber: 46n }), undefined)
})

/** The revert that viem decoded. */
async function revertOf(client: PublicClient, functionName: string): Promise<ContractFunctionRevertedError> {
  const call = { abi, address: fixture.REVERTER, functionName: functionName as 'failString', account: fixture.CAROL }
  const error = await client.readContract(call as never).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof BaseError, String(error))
  const revert = error.walk((each) => each instanceof ContractFunctionRevertedError)
  assert.ok(revert instanceof ContractFunctionRevertedError, error.message)
  return revert
}

testBoth('decodes reverts', async (client) => {
  const withReason = await revertOf(client, 'failString')
  assert.equal(withReason.reason, 'not allowed')
  const panic = await revertOf(client, 'failPanic')
  assert.deepEqual([panic.data!.errorName, panic.data!.args], ['Panic', [17n]])
  const custom = await revertOf(client, 'failCustom')
  assert.equal(custom.data!.errorName, 'NotAllowed')
  assert.deepEqual([String(custom.data!.args![0]).toLowerCase(), custom.data!.args![1]], [fixture.CAROL, 42n])
  const empty = await revertOf(client, 'failEmpty')
  assert.deepEqual([empty.raw, empty.data, empty.reason], ['0x', undefined, 'execution reverted'])
  await assert.rejects(
    client.readContract({ abi, address: fixture.REVERTER, functionName: 'failInvalid' }),
    /invalid opcode: INVALID/,
  )
  await assert.rejects(
    client.simulateContract({
      abi,
      address: fixture.TOKEN,
      functionName: 'transfer',
      args: [fixture.BOB, 1n],
      account: fixture.ABSENT_ACCOUNT,
    }),
    /insufficient balance/,
  )
})

testBoth('estimates gas as the chain used it', async (client) => {
  const plain = await client.estimateGas({ account: fixture.ALICE, to: fixture.BOB, value: 1n })
  assert.equal(plain, 21_000n)
  const args = [fixture.CAROL, 3n] as const
  const call = { abi, address: fixture.TOKEN, functionName: 'transfer', args, account: fixture.ALICE } as const
  const estimated = await client.estimateContractGas({ ...call, blockNumber: 29n } as typeof call)
  const { hash } = await client.getTransaction({ blockNumber: 30n, index: 0 })
  const { gasUsed } = await client.getTransactionReceipt({ hash })
  assert.ok(estimated >= gasUsed && estimated < gasUsed + gasUsed / 50n, `${estimated} for ${gasUsed}`)
})

testBoth('reads accounts at every height', async (client) => {
  const { address, nonceAt } = {
    address: fixture.ALICE,
    nonceAt: [
      [0n, 0],
      [1n, 1],
      [2n, 2],
      [15n, 9],
    ] as const,
  } as const
  for (const [blockNumber, nonce] of nonceAt) {
    assert.equal(await client.getTransactionCount({ address, blockNumber }), nonce)
  }
  const gasPrice = 2_000_000_000n
  assert.equal(await client.getBalance({ address, blockNumber: 0n }), 1000n * fixture.ETHER)
  assert.equal(await client.getBalance({ address, blockNumber: 1n }), 999n * fixture.ETHER - 21_000n * gasPrice)
  assert.equal(await client.getBalance({ address: fixture.ABSENT_ACCOUNT }), 0n)
  const counterAt = async (blockNumber: bigint) => {
    const at = { address: fixture.COUNTER, blockNumber } as const
    const word = await client.getStorageAt({ ...at, slot: '0x0' })
    return [(await client.getCode(at)) !== undefined, BigInt(word!)]
  }
  assert.deepEqual(
    await Promise.all([3n, 4n, 5n, 6n, 7n].map(counterAt)),
    [[false, 0n], [true, 0n], [true, 1n], [true, 2n], [false, 0n]],
  ) // biome-ignore format: a table reads better by rows
  const childCode = await client.getCode({ address: fixture.CHILD, blockNumber: 18n })
  assert.equal(await client.getCode({ address: fixture.CHILD, blockNumber: 19n }), undefined)
  assert.equal(keccak256((await client.getCode({ address: fixture.CHILD }))!), keccak256(childCode!))
})

testBoth('reads fees and uncles', async (client) => {
  const { baseFeePerGas, gasUsedRatio, reward } = await client.getFeeHistory({
    blockCount: 5,
    blockNumber: 58n,
    rewardPercentiles: [50],
  })
  assert.deepEqual([baseFeePerGas.length, gasUsedRatio.length, reward!.length], [6, 5, 5])
  assert.ok(reward!.every(([tip]) => tip === 1_000_000_000n))
  assert.equal(baseFeePerGas[0], (await client.getBlock({ blockNumber: 54n })).baseFeePerGas)
  assert.ok((await client.getGasPrice()) > 0n)
  assert.equal((await client.estimateFeesPerGas()).maxPriorityFeePerGas, 1_000_000_000n)
  assert.ok((await client.getBlobBaseFee()) >= 1n)
  const block = await client.getBlock({ blockNumber: 13n })
  const uncle = await client.request({ method: 'eth_getUncleByBlockHashAndIndex', params: [block.hash, '0x0'] })
  assert.deepEqual([uncle!.hash, uncle!.miner, uncle!.number], [block.uncles[0], fixture.BOB, '0xc'])
})
