import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { rulesAt } from '../../../src/chain/eth/forks/rules.js'
import { parseGenesisSpec } from '../../../src/chain/eth/genesis.js'
import { EMPTY_TRIE_ROOT } from '../../../src/chain/eth/trie.js'
import { UsageError } from '../../../src/lib/errors.js'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { fetchDevelopmentGenesis } from '../../../src/sources/ethRpc/developmentGenesis.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { writeGenesisChain } from '../../support/chains/genesisChain.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { openChainAnswers, RpcFailure, startScriptedUpstream } from '../../support/upstream/scriptedUpstream.js'

const DEVELOPER = `0x${'de'.repeat(20)}`
const HISTORY_STORAGE = '0x0000f90827f1c53a10cb7a02335b175320002935'
const OTHER = `0x${'0a'.repeat(20)}`
const ACCOUNTS = {
  [DEVELOPER]: { balance: '0x64' },
  [HISTORY_STORAGE]: { balance: '0x0', nonce: '0x1', code: '0x6001' },
}
const STORED = { [OTHER]: { balance: '0x0', code: '0x6002', storage: { '0x1': '0x2' } } }

interface Node {
  alloc?: object
  stateHash?: string
  /** Of the genesis file, beside those that every node here has. */
  members?: object
  amsterdamTime?: number
  /** Answers beside those of the chain. */
  answers?: { readonly [method: string]: unknown }
}

/** The URL of a development node whose own account is `DEVELOPER`, and the hash of its block 0. */
async function startNode(
  t: TestContext,
  { alloc = ACCOUNTS, stateHash, answers = {}, amsterdamTime, members: more = {} }: Node,
) {
  const forks = { londonBlock: 0, terminalTotalDifficulty: 0, shanghaiTime: 0, cancunTime: 0, pragueTime: 0 }
  const config = { chainId: 1337, ...forks, osakaTime: 0, amsterdamTime, development: stateHash !== undefined }
  const members = {
    gasLimit: '0x1c9c380',
    timestamp: '0x64',
    extraData: '0x01',
    baseFeePerGas: '0x9',
    alloc,
    stateHash,
    ...more,
  }
  const chain = openChainAnswers(await writeGenesisChain(t, { config, ...members }))
  const own: { readonly [method: string]: unknown } = { eth_accounts: [DEVELOPER], ...answers }
  const result = async (method: string, params: unknown[]) => {
    if (own[method] instanceof Error) throw own[method]
    return own[method] ?? chain.result(method, params)
  }
  const node = await startScriptedUpstream({ ...chain, result })
  t.after(async () => {
    await node.close()
    chain.close()
  })
  return {
    url: node.url,
    hash: ((await chain.result('eth_getBlockByNumber', ['0x0', false])) as { hash: string }).hash,
  }
}

function fetchFrom(url: string, file?: unknown, withState = true): Promise<unknown> {
  return fetchDevelopmentGenesis([{ url }], { file, withState, log: silentLogger })
}

/** Hash of block 0 of the genesis, and its accounts. */
async function lay(t: TestContext, genesis: unknown): Promise<{ hash: string; accounts: number }> {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const { head, executor } = await openWritableChain(db, { genesis }, 'execute')
  return { hash: formatData(head.newest!.hash), accounts: executor!.accounts }
}

for (const [name, stateHash] of [
  ['its accounts', undefined],
  ['no accounts', formatData(EMPTY_TRIE_ROOT)],
] as const) {
  test(`block 0 of a node whose header has the root of ${name} is made of its own and the usual accounts`, async (t) => {
    const { url, hash } = await startNode(t, { stateHash })
    assert.deepEqual(await lay(t, await fetchFrom(url)), { hash, accounts: 2 })
  })
}

test('the fork and its blobs are those that the node names', async (t) => {
  const blobSchedule = { target: 10, max: 15, baseFeeUpdateFraction: 8346193 }
  const eth_config = { current: { blobSchedule, precompiles: { P256VERIFY: `0x${'1'.padStart(40, '0')}` } } }
  const forksOf = async (answers: Node['answers']) => {
    const { config } = (await fetchFrom((await startNode(t, { answers })).url)) as {
      config: { [name: string]: unknown }
    }
    return [
      Object.keys(config)
        .filter((key) => key.endsWith('Time'))
        .at(-1),
      config.blobSchedule,
    ]
  }
  assert.deepEqual(await forksOf({ eth_config: { current: null } }), ['pragueTime', undefined])
  assert.deepEqual(await forksOf({ eth_config }), ['osakaTime', { osaka: blobSchedule }])
  assert.deepEqual(await forksOf({ eth_config, anvil_nodeInfo: { hardFork: 'Bpo1' } }), [
    'bpo1Time',
    { bpo1: blobSchedule },
  ])
})

test('a chain of Osaka whose node knows SLOTNUM is that of geth in its dev mode: Bogota without Amsterdam', async (t) => {
  const blobSchedule = { target: 6, max: 9, baseFeeUpdateFraction: 5007716 }
  const eth_config = { current: { blobSchedule, precompiles: { P256VERIFY: `0x${'1'.padStart(40, '0')}` } } }
  const genesis = await fetchFrom((await startNode(t, { answers: { eth_config, eth_call: '0x' } })).url)
  const spec = parseGenesisSpec(genesis)
  const rules = rulesAt(spec, 1, 1n)
  assert.deepEqual(
    [rules.fork, rules.has('bogota'), rules.has('amsterdam'), rules.has('osaka'), rules.blobs?.max],
    ['bogota', true, false, true, 9],
  )
})

test('a fork of the node that Cairn does not know is refused by name', async (t) => {
  const admin_nodeInfo = { protocols: { eth: { config: { chainId: 1337, bogotaTime: 0, oakTime: 7 } } } }
  const { url } = await startNode(t, { answers: { admin_nodeInfo } })
  await assert.rejects(fetchFrom(url), (error) => {
    assert.ok(error instanceof UsageError)
    assert.match(
      error.message,
      /admin_nodeInfo: config\.oakTime: Cairn does not know this fork, which begins at 7; a newer version/,
    )
    return true
  })
})

test('a fork that only eth_config shows and that Cairn does not know is refused by what it adds', async (t) => {
  const known = { precompiles: { P256VERIFY: `0x${'100'.padStart(40, '0')}` } }
  const falcon = `0x${'12'.padStart(40, '0')}`
  const oak = `0x${'0a'.repeat(20)}`
  const refusals = [
    [
      { current: { activationTime: 0, precompiles: { ...known.precompiles, FALCON: falcon } } },
      'current',
      'precompiles.FALCON',
    ],
    [{ current: known, next: { activationTime: 7, precompiles: { FALCON: falcon } } }, 'next', 'precompiles.FALCON'],
    [
      { current: known, next: known, last: { activationTime: 9, systemContracts: { OAK_ADDRESS: oak } } },
      'last',
      'systemContracts.OAK_ADDRESS',
    ],
  ] as const
  for (const [eth_config, which, name] of refusals) {
    const { url } = await startNode(t, { answers: { eth_config } })
    await assert.rejects(fetchFrom(url), (error) => {
      assert.ok(error instanceof UsageError)
      const { activationTime } = (eth_config as { [which: string]: { activationTime?: number } })[which]
      const place = `eth_config: ${which}.${name} at 0x`
      assert.ok(error.message.includes(place), error.message)
      assert.ok(error.message.includes(`does not know the fork that has it, which begins at ${activationTime};`))
      return true
    })
  }
})

test('a node that has the state of block 0 no longer is refused with what would work', async (t) => {
  const eth_getBalance = new RpcFailure(-32000, 'historical state 0x12 is not available')
  const { url } = await startNode(t, { answers: { eth_getBalance } })
  await assert.rejects(fetchFrom(url), (error) => {
    assert.ok(error instanceof UsageError)
    assert.match(
      error.message,
      /historical state 0x12 is not available: .* --gcmode archive .*, or follow with --state none/,
    )
    return true
  })
  await fetchFrom(url, undefined, false)
})

test('block 0 of Amsterdam has its slot and the contracts of EIP-8282', async (t) => {
  const contract = { balance: '0x0', nonce: '0x1', code: '0x00' }
  const alloc = {
    ...ACCOUNTS,
    '0x0000bff46984e3725691fa540a8c7589300d8282': contract,
    '0x000064d678505ad48f8ccb093bc65613800e8282': contract,
  }
  const { url, hash } = await startNode(t, { alloc, amsterdamTime: 0, members: { slotNumber: '0x7' } })
  assert.deepEqual(await lay(t, await fetchFrom(url)), { hash, accounts: 4 })
})

test('an account that no answer names is missed, and found with the genesis file of the node', async (t) => {
  const { url, hash } = await startNode(t, { alloc: { ...ACCOUNTS, ...STORED } })
  await assert.rejects(fetchFrom(url), (error) => {
    assert.ok(error instanceof UsageError)
    assert.match(error.message, /block 0 has the state root 0x.*--genesis FILE, or follow with --state none/)
    return true
  })
  assert.deepEqual(await lay(t, await fetchFrom(url, { alloc: STORED })), { hash, accounts: 3 })
  const { alloc } = (await fetchFrom(url, undefined, false)) as { alloc: object }
  assert.deepEqual(alloc, {})
})

test('the root of the state is that of a proof where the header has none', async (t) => {
  const answers = { eth_getProof: { accountProof: ['0xf851'] } } // of other accounts
  const { url } = await startNode(t, { stateHash: formatData(EMPTY_TRIE_ROOT), answers })
  await assert.rejects(fetchFrom(url), /block 0 has the state root 0x/)
})

test('a node whose block 0 is not that of its fork is refused', async (t) => {
  const { url } = await startNode(t, { answers: { anvil_nodeInfo: { hardFork: 'Shanghai' } } })
  await assert.rejects(fetchFrom(url), /block 0 has the hash 0x.*its fields are not those of its fork/)
})
