import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runCairn, runCairnOk, startCairn } from '../support/cairn.js'
import { checkDatabase } from '../support/compare/checkDatabase.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { SKIP_SHARED, sharedPath } from '../support/shared.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Chains of the shared folder: the first 8,192 blocks of mainnet and Sepolia, and two branches that parted at a
 * fork. */

const chains = sharedPath('chains')
const skip = SKIP_SHARED

/** The last block of each era1 file, and an account whose balance is known from the blocks that it mined. */
const NETWORKS = [
  {
    network: 'mainnet',
    file: 'mainnet-00000-5ec1ffb8.era1',
    genesis: '0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3',
    head: '0xa6860fefa339c963e1bb622526cc8dd4344eedd2a9b969e74de5cccc445fbed4',
    stateRoot: '0x5e184cd804670d251e30fdb3260b92031edc70077b4d1e8d7694bc660895ee7d',
  },
  {
    network: 'sepolia',
    file: 'sepolia-00000-643a00f7.era1',
    genesis: '0x25a5cc106eea7138acab33231d7160d69cb777ee0c2c553fcddf5138993e6dd9',
    head: '0x8e3e7dc9ef199c05683417b4aa572f0b7a8bcfafca7edb6045baabc01aa4fb0c',
    stateRoot: '0x93375bd8da5611012a5e1c4732b432045ebe92acec13d391410b89afd8e8a464',
  },
] as const

async function importEra(t: TestContext, { network, file }: (typeof NETWORKS)[number], state: string): Promise<string> {
  const datadir = temporaryDirectory(t)
  const args = ['--datadir', datadir, '--network', network, '--state', state, `${chains}/${file}`]
  const summary = await runCairnOk(['import', ...args])
  // With execution the genesis is laid before the file is read.
  const expected =
    state === 'execute' ? '8191 blocks imported, 1 stored already' : '8192 blocks imported, 0 stored already'
  assert.equal(summary.trim(), expected)
  return datadir
}

for (const each of NETWORKS) {
  test(`the first blocks of ${each.network} are executed, every root checked`, { skip }, async (t) => {
    const datadir = await importEra(t, each, 'execute')
    assert.deepEqual(checkDatabase(datadir), { number: 8191, hash: each.head, stateRoot: each.stateRoot })
    const { url } = await startCairn(t, ['--datadir', datadir, '--open'])
    const genesis = await resultOf<{ hash: string }>(url, 'eth_getBlockByNumber', ['earliest', false])
    assert.equal(genesis.hash, each.genesis)
    const { miner } = await resultOf<{ miner: string }>(url, 'eth_getBlockByNumber', ['0x1', false])
    const balances = await Promise.all(
      ['0x0', '0x1'].map(async (block) => BigInt(await resultOf<string>(url, 'eth_getBalance', [miner, block]))),
    )
    const reward = each.network === 'mainnet' ? 5n : 2n // Sepolia began with the rules of Constantinople
    assert.equal(balances[1] - balances[0], reward * 10n ** 18n)
    if (each.network === 'mainnet') await checkUncleRewards(url)
  })

  test(`the first blocks of ${each.network} are taken with their receipts alone`, { skip }, async (t) => {
    const datadir = await importEra(t, each, 'none')
    assert.deepEqual(checkDatabase(datadir), { number: 8191, hash: each.head, stateRoot: each.stateRoot })
    const { url } = await startCairn(t, ['--datadir', datadir, '--open'])
    const miner = `0x${'05'.repeat(20)}`
    const missing = { code: -32000, message: 'historical state 8191 is not available' }
    for (const [method, params] of [
      ['eth_getBalance', [miner, 'latest']],
      ['eth_getCode', [miner, 'latest']],
      ['eth_getStorageAt', [miner, '0x0', 'latest']],
      ['eth_getTransactionCount', [miner, 'latest']],
      ['eth_call', [{ to: miner }, 'latest']],
      ['eth_estimateGas', [{ to: miner }]],
    ] as const) {
      assert.deepEqual((await ask(url, method, params)).error, missing, method)
    }
    const at17 = await ask(url, 'eth_getBalance', [miner, '0x11'])
    assert.equal(at17.error!.message, 'historical state 17 is not available')
    assert.deepEqual(await resultOf(url, 'eth_getLogs', [{ fromBlock: '0x0' }]), [])
  })
}

/** Uncles are rewarded: an eighth less for each generation, and 1/32 for who names them. */
async function checkUncleRewards(url: string): Promise<void> {
  // Block 3 names one uncle, from beside block 1.
  const block = await resultOf<{ miner: string }>(url, 'eth_getBlockByNumber', ['0x3', false])
  const uncle = await resultOf<{ miner: string; number: string }>(url, 'eth_getUncleByBlockNumberAndIndex', [
    '0x3',
    '0x0',
  ])
  assert.equal(uncle.number, '0x1')
  const gain = async (address: string) => {
    const [before, after] = await Promise.all(
      ['0x2', '0x3'].map(async (at) => BigInt(await resultOf<string>(url, 'eth_getBalance', [address, at]))),
    )
    return after - before
  }
  const reward = 5n * 10n ** 18n
  assert.notEqual(uncle.miner, block.miner)
  assert.equal(await gain(block.miner), reward + reward / 32n)
  assert.equal(await gain(uncle.miner), (reward * 6n) / 8n)
}

const branchHeads = {
  upgraded: '0xba10c781a48988938935606a37f2aec2a7bb8aff3648ef0c8f0f3629611c07db',
  outdated: '0xfee4cb230625ef62fa98d9b51f5ae8a6c37077c1cd932e7a2b6012325d7b8688',
}

for (const [branch, other] of [
  ['upgraded', 'outdated'],
  ['outdated', 'upgraded'],
] as const) {
  test(`the ${branch} rules take their own branch and refuse the ${other} one by name`, { skip }, async (t) => {
    const folder = sharedPath('chains', 'besu-fork')
    const begin = (datadir: string) => ['import', '--datadir', datadir, '--genesis', `${folder}/genesis-${branch}.json`]
    const [own, strange] = [temporaryDirectory(t), temporaryDirectory(t)]
    await runCairnOk([...begin(own), `${folder}/common.blocks`, `${folder}/fork-${branch}.blocks`])
    assert.deepEqual([checkDatabase(own)!.number, checkDatabase(own)!.hash], [10, branchHeads[branch]])
    const refused = await runCairn([...begin(strange), `${folder}/common.blocks`, `${folder}/fork-${other}.blocks`])
    assert.equal(refused.code, 1)
    // The rules differ in what storing costs (EIP-1283).
    assert.match(refused.stderr, /\ncairn: block 7 \(0x[0-9a-f]{64}\): gas used: expected \d+, the block has \d+\n$/)
    assert.equal(checkDatabase(strange)!.number, 6)
    // On top of its own branch, the other one does not fit either.
    const late = await runCairn([...begin(own), `${folder}/fork-${other}.blocks`])
    assert.equal(late.code, 1)
    assert.match(late.stderr, /cairn: block 7 \(0x[0-9a-f]{64}\): canonical block: expected 0x/)
    assert.deepEqual(checkDatabase(own)!.hash, branchHeads[branch])
  })
}
