import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, describe, it, type TestContext } from 'node:test'
import { keccak256 } from '../../../src/chain/crypto.js'
import { unreachableNodes } from '../../../src/chain/eth/proof.js'
import { EMPTY_TRIE_ROOT } from '../../../src/chain/eth/trie.js'
import { bigIntToFixedBytes } from '../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { openFixtureAnswers } from '../../support/chains/fixtureAnswers.js'
import { ALICE, BOB, TOKEN } from '../../support/chains/fixtureChain.js'
import { keepLog, openFixtureRpc } from '../../support/chains/rightChain.js'
import {
  type Fault,
  RpcFailure,
  startScriptedUpstream,
  type UpstreamCall,
} from '../../support/upstream/scriptedUpstream.js'

type Json = Record<string, unknown>

const METHOD = 'debug_executionWitness'
const BY_HASH = 'debug_executionWitnessByBlockHash'
const NUMBER = 18

const { chain, answers } = await openFixtureAnswers({ after })

const blockAt = (number: number) => ({
  number,
  hash: chain[number].block.hash,
  parentStateRoot: chain[number - 1].block.header.stateRoot,
})
const right = (await answers.result(METHOD, [`0x${NUMBER.toString(16)}`])) as Record<'state' | 'codes', string[]>

async function start(t: TestContext, faults: readonly (Fault | undefined)[], maxResponseBytes = 2 ** 21) {
  const upstreams = await Promise.all(faults.map((fault) => startScriptedUpstream(answers, fault)))
  const { log, lines } = keepLog()
  const urls = upstreams.map(({ url }) => url)
  const rpc = openFixtureRpc(chain[0].block.hash, urls, { log, limits: { maxResponseBytes } })
  t.after(async () => {
    rpc.close()
    await Promise.all(upstreams.map((upstream) => upstream.close()))
  })
  return { upstreams, rpc, lines }
}

/** A fault of the results of some methods. */
function changing(methods: readonly string[], change: (call: UpstreamCall, result: unknown) => unknown): Fault {
  return {
    name: methods.join(),
    result: (call, result) => (methods.includes(call.method) ? change(call, result) : result),
  }
}

const witnessOf = (change: (witness: Json) => unknown) =>
  changing([METHOD], (_, result) => change({ ...(result as Json) }))
const fails = (code: number, message: string) => () => {
  throw new RpcFailure(code, message)
}
const byHash = (list: readonly string[]) =>
  Object.fromEntries(list.map((data) => [formatData(keccak256(parseHex(data))), data]))
const bump = (text: string) => text.replace(/.$/, (digit) => (digit === '1' ? '2' : '1'))
const withoutRoot = (state: readonly string[]) => {
  const { parentStateRoot } = blockAt(NUMBER)
  return state.filter((node) => Buffer.compare(keccak256(parseHex(node)), parentStateRoot) !== 0)
}

describe('witnesses of upstreams', () => {
  const shapes: [client: string, change: (witness: Json) => unknown][] = [
    ['reth, Nethermind, Erigon and Cairn', (each) => each],
    ['geth', (each) => ({ ...each, headers: [{ number: '0x11' }], keys: null })],
    ['op-geth', ({ headers }) => ({ headers, state: byHash(right.state), codes: byHash(right.codes), keys: {} })],
  ]
  for (const [client, change] of shapes) {
    it(`reads those of ${client}`, async (t) => {
      const { rpc, upstreams } = await start(t, [witnessOf(change)])
      const witness = (await rpc.executionWitness(blockAt(NUMBER)))!
      assert.deepEqual(witness.nodes.map(formatData), right.state)
      assert.deepEqual(witness.codes.map(formatData), right.codes)
      assert.equal(witness.upstream, upstreams[0].url)
      assert.equal(unreachableNodes(witness.nodes, blockAt(NUMBER).parentStateRoot), 0)
    })
  }

  const lies: [name: string, change: (witness: Json) => unknown][] = [
    ['another node of the root', (each) => ({ ...each, state: [...withoutRoot(right.state), '0xc0'] })],
    ['no node of the root', (each) => ({ ...each, state: withoutRoot(right.state) })],
    ['a node is no hex', (each) => ({ ...each, state: [...right.state, 'zz'] })],
    ['a node is a number', (each) => ({ ...each, state: [...right.state, 5] })],
    ['nodes are text', (each) => ({ ...each, state: '0x' })],
    ['nodes are missing', ({ codes }) => ({ codes })],
    ['codes are missing', ({ state }) => ({ state })],
    ['a code is no hex', (each) => ({ ...each, codes: ['0x1'] })],
    ['no object', () => 'nonsense'],
    ['the witness of another block', () => answers.result(METHOD, ['0x14'])],
  ]
  for (const [name, change] of lies) {
    it(`${name}: the upstream is quarantined and another is asked`, async (t) => {
      const { rpc, upstreams, lines } = await start(t, [witnessOf(change), undefined])
      const witness = await rpc.executionWitness(blockAt(NUMBER))
      assert.equal(witness?.upstream, upstreams[1].url)
      const named = lines.filter(({ message }) => /quarantined/.test(message))
      assert.deepEqual(
        named.map(({ fields }) => [fields.upstream, fields.check, fields.blockNumber]),
        [[upstreams[0].url, 'witness: node', NUMBER]],
      )
    })
  }

  it('quarantines the upstream of a witness that its user refuses', async (t) => {
    const { rpc, lines } = await start(t, [
      witnessOf((each) => ({ ...each, state: right.state.map((node, i) => (i === 1 ? bump(node) : node)) })),
      undefined,
    ])
    const witness = (await rpc.executionWitness(blockAt(NUMBER)))!
    const count = unreachableNodes(witness.nodes, blockAt(NUMBER).parentStateRoot)
    assert.ok(count >= 1)
    witness.refuse(`${count} nodes are not of the parent's state`)
    assert.equal(rpc.status()[0].state, 'quarantined')
    const [{ fields }] = lines
    assert.deepEqual([fields.check, fields.problem], ['witness: node', `${count} nodes are not of the parent's state`])
  })

  it('accepts a witness without nodes on the empty state', async (t) => {
    const { rpc } = await start(t, [witnessOf(() => ({ state: [], codes: [], keys: null, headers: [] }))])
    const witness = await rpc.executionWitness({ ...blockAt(NUMBER), parentStateRoot: EMPTY_TRIE_ROOT })
    assert.deepEqual([witness?.nodes, witness?.codes], [[], []])
  })

  const absent: [name: string, fault: Fault][] = [
    ['the method is missing', { name: 'lacks', lacks: [METHOD] }],
    ['the namespace is forbidden', { name: 'forbidden', respond: respondForbidden }],
    ['the state is pruned', witnessOf(fails(-32000, 'missing trie node'))],
    ['the block is not found', witnessOf(() => null)],
    ['it has no nodes', witnessOf((each) => ({ ...each, state: [] }))],
    ['geth fails to make it', witnessOf(fails(-32000, 'block 0x12 found, but parent missing'))],
    ['an internal error', witnessOf(fails(-32603, 'internal error'))],
    ['it is larger than a response may be', witnessOf((each) => ({ ...each, headers: 'x'.repeat(2 ** 22) }))],
  ]
  for (const [name, fault] of absent) {
    it(`${name}: another upstream is asked; alone it has none`, async (t) => {
      const { rpc, upstreams } = await start(t, [fault, undefined])
      await rpc.start()
      assert.equal((await rpc.executionWitness(blockAt(NUMBER)))?.upstream, upstreams[1].url)
      const alone = await start(t, [fault])
      assert.equal(await alone.rpc.executionWitness(blockAt(NUMBER)), undefined)
      assert.equal(alone.rpc.status()[0].invalidResponses, 0)
    })
  }

  it('asks by hash with the method of reth, or by number, and remembers which', async (t) => {
    const asked: unknown[] = []
    const numbersOnly = changing([METHOD], ({ method, params: [id] }, result) => {
      asked.push([method, id])
      if (String(id).length > 60) throw new RpcFailure(-32602, 'Invalid params')
      return result
    })
    const { number, hash } = { number: '0x12', hash: formatData(blockAt(NUMBER).hash) }
    const older = await start(t, [numbersOnly])
    for (let i = 0; i < 2; i++) assert.ok(await older.rpc.executionWitness(blockAt(NUMBER)))
    assert.deepEqual(asked.splice(0), [
      [METHOD, hash],
      [METHOD, number],
      [METHOD, number],
    ])
    const reth = await start(t, [undefined])
    // The scripted node lacks reth's method: it answers it as its own.
    reth.upstreams[0].fault = {
      name: 'reth',
      answers: (sent, calls) => {
        asked.push([calls[0].method, calls[0].params[0]])
        if (calls[0].method === METHOD)
          return { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'Invalid params' } }
        return calls[0].method === BY_HASH ? { jsonrpc: '2.0', id: 1, result: right } : sent
      },
    }
    for (let i = 0; i < 2; i++) assert.ok(await reth.rpc.executionWitness(blockAt(NUMBER)))
    assert.deepEqual(
      asked.filter((each) => /Witness/.test(String(each))),
      [
        [METHOD, hash],
        [BY_HASH, hash],
        [BY_HASH, hash],
      ],
    )
  })

  it('does not blame an upstream whose block of that number is another one', async (t) => {
    const { rpc } = await start(t, [
      changing([METHOD], ({ params: [id] }) => {
        if (String(id).length > 60) throw new RpcFailure(-32602, 'Invalid params')
        return answers.result(METHOD, ['0x14'])
      }),
    ])
    const other = { ...blockAt(NUMBER), hash: blockAt(20).hash }
    assert.equal(await rpc.executionWitness(other), undefined)
    assert.equal(rpc.status()[0].state, 'ok')
  })
})

describe('access hints of upstreams', () => {
  const block = { number: 70, hash: chain[70].block.hash }
  const transfer = {
    from: ALICE,
    to: TOKEN,
    data: `0xa9059cbb${BOB.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`,
  }
  const slot = (value: number) => bigIntToFixedBytes(BigInt(value), 32)

  it('returns what a call accesses', async (t) => {
    const { rpc } = await start(t, [undefined])
    const { accessList } = (await answers.result('eth_createAccessList', [transfer, '0x46'])) as {
      accessList: { address: string; storageKeys: string[] }[]
    }
    const hint = await rpc.accessListHint(transfer, block)
    assert.deepEqual(
      hint?.map(({ address, slots }) => ({ address: formatData(address), storageKeys: slots.map(formatData) })),
      accessList,
    )
    assert.ok(accessList[0].storageKeys.length > 1)
  })

  it('returns at most 4,096 addresses and slots', async (t) => {
    const entry = (i: number, count: number) => ({
      address: formatData(bigIntToFixedBytes(BigInt(i), 20)),
      storageKeys: Array.from({ length: count }, (_, at) => formatData(slot(at))),
    })
    const accessList = [entry(1, 1000), entry(2, 3000), entry(3, 5000), entry(4, 1)]
    const { rpc } = await start(t, [changing(['eth_createAccessList'], () => ({ accessList, gasUsed: '0x1' }))])
    const hint = await rpc.accessListHint(transfer, block)
    assert.deepEqual(
      hint?.map(({ slots }) => slots.length),
      [1000, 3000, 93],
    )
  })

  it('returns undefined when there is no hint that can be read, which is no failure', async (t) => {
    for (const change of [
      fails(-32000, 'execution reverted'),
      fails(-32601, 'the method eth_createAccessList does not exist/is not available'),
      () => null,
      () => 'nonsense',
      () => ({ accessList: [{ address: '0x12', storageKeys: [] }] }),
      () => ({ accessList: [{ address: ALICE, storageKeys: ['0x1'] }] }),
    ]) {
      const { rpc } = await start(t, [changing(['eth_createAccessList'], change)])
      assert.equal(await rpc.accessListHint(transfer, block), undefined)
      assert.deepEqual([rpc.status()[0].state, rpc.status()[0].failures], ['ok', 0])
    }
  })

  it('returns undefined for an upstream that does not answer in time, which is no failure', async (t) => {
    const { rpc, upstreams } = await start(t, [undefined])
    await rpc.start()
    upstreams[0].fault = { name: 'stalled', respond: () => {} }
    assert.equal(await rpc.accessListHint(transfer, block), undefined)
    assert.deepEqual([rpc.status()[0].state, rpc.status()[0].failures], ['ok', 0])
  })

  it('asks another upstream where the first lacks the method', async (t) => {
    const { rpc, upstreams } = await start(t, [{ name: 'lacks', lacks: ['eth_createAccessList'] }, undefined])
    await rpc.accessListHint(transfer, block)
    assert.ok(await rpc.accessListHint(transfer, block))
    assert.ok(upstreams[1].requests.flat().includes('eth_createAccessList'))
  })

  it('returns what a block accesses, and undefined before Amsterdam', async (t) => {
    const { rpc } = await start(t, [undefined])
    const list = (await answers.result('eth_getBlockAccessList', ['0x46'])) as Json[]
    const hint = await rpc.blockAccessList(block)
    assert.deepEqual(
      hint?.map(({ address, slots }) => [formatData(address), ...slots.map(formatData)]),
      list.map(({ address, storageChanges, storageReads }) => [
        address,
        ...(storageChanges as Json[]).map(({ key }) => key),
        ...(storageReads as string[]),
      ]),
    )
    assert.ok(hint!.length > 3)
    assert.equal(await rpc.blockAccessList({ number: 18, hash: chain[18].block.hash }), undefined)
  })

  it('reads the slots of a block as quantities too', async (t) => {
    const entry = { address: ALICE, storageChanges: [{ slot: '0x7', slotChanges: [] }], storageReads: ['0x0'] }
    const { rpc } = await start(t, [changing(['eth_getBlockAccessList'], () => [entry])])
    assert.deepEqual(await rpc.blockAccessList(block), [{ address: parseHex(ALICE), slots: [slot(7), slot(0)] }])
  })
})

describe('what upstreams offer of the state', () => {
  const noProofs: Fault = { name: 'no proofs', lacks: ['eth_getProof'] }
  const noWitness: Fault = { name: 'no witness', lacks: [METHOD] }
  const neither: Fault = { name: 'neither', lacks: [METHOD, 'eth_getProof'] }
  const probe = async (t: TestContext, ...faults: (Fault | undefined)[]) => {
    const { rpc, upstreams } = await start(t, faults)
    const { reason, ...rest } = await rpc.probeState()
    const named = upstreams.reduce((text, { url }, i) => text?.replace(url, `URL${i}`), reason)
    return { ...rest, reason: named }
  }

  it('finds what each of them has, in one sentence', async (t) => {
    const help = 'no eth_getProof (reth needs --rpc.eth-proof-window)'
    assert.deepEqual(await probe(t, undefined), { witness: true, proofs: true, reason: undefined })
    assert.deepEqual(await probe(t, noProofs, noWitness), { witness: true, proofs: true, reason: undefined })
    assert.deepEqual(await probe(t, noWitness), {
      witness: false,
      proofs: true,
      reason: 'URL0: no debug_executionWitness; blocks are executed with eth_getProof',
    })
    assert.deepEqual(await probe(t, noProofs), {
      witness: true,
      proofs: false,
      reason: `URL0: ${help}; only what blocks read can be fetched`,
    })
    assert.deepEqual(await probe(t, neither, neither), {
      witness: false,
      proofs: false,
      reason: `URL0: ${help}, URL1: ${help}; state cannot be fetched`,
    })
  })

  it('finds that reth proves its head only', async (t) => {
    const reth: Fault = {
      name: 'reth',
      lacks: [METHOD],
      result: ({ method }, result) => {
        if (method !== 'eth_getProof') return result
        throw new RpcFailure(-32000, 'distance to target block exceeds maximum proof window')
      },
    }
    assert.deepEqual(await probe(t, reth), {
      witness: false,
      proofs: false,
      reason:
        'URL0: distance to target block exceeds maximum proof window (reth needs --rpc.eth-proof-window); state cannot be fetched',
    })
  })

  it('names an upstream that cannot be reached, or that sends a wrong proof', async (t) => {
    const cut: Fault = { name: 'cut', respond: (response) => response.destroy() }
    assert.match(String((await probe(t, cut)).reason), /^URL0: no whole response: .*; state cannot be fetched$/)
    const lie = changing(['eth_getProof'], (_, result) => ({ ...(result as Json), balance: '0x77' }))
    assert.match(String((await probe(t, lie)).reason), /^URL0: block 73: proof: account: .*balance/)
  })
})

/** Forbids the namespace `debug`, as some providers do. */
function respondForbidden(response: ServerResponse, text: string): void {
  const isWitness = /"state"|witness/i.test(text)
  response.writeHead(isWitness ? 403 : 200, { 'content-type': 'application/json' }).end(isWitness ? '{}' : text)
}
