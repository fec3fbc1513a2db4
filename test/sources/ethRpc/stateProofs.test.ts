import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import { keccak256 } from '../../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../../src/chain/eth/emptyHashes.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import { bigIntToFixedBytes, EMPTY_BYTES, trimLeft } from '../../../src/lib/bytes.js'
import { formatData, formatQuantity, parseHex } from '../../../src/lib/hex.js'
import type { StateBlock } from '../../../src/sources/ethRpc/stateTypes.js'
import type { Clock } from '../../../src/sources/upstreams/clock.js'
import { StateNotAtUpstream } from '../../../src/sources/upstreams/errors.js'
import type { StateKeys } from '../../../src/trie/missingNodes.js'
import { openFixtureAnswers } from '../../support/chains/fixtureAnswers.js'
import { ABSENT_ACCOUNT, ALICE, BOB, EMITTER, STORE, TOKEN } from '../../support/chains/fixtureChain.js'
import { createStandingClock, keepLog, openFixtureRpc } from '../../support/chains/rightChain.js'
import {
  type Fault,
  RpcFailure,
  startScriptedUpstream,
  type UpstreamCall,
} from '../../support/upstream/scriptedUpstream.js'

type Json = Record<string, unknown>

const { chain, answers } = await openFixtureAnswers({ after })

const blockAt = (number: number): StateBlock => {
  const { hash, header } = chain[number].block
  return { number, hash, stateRoot: header.stateRoot }
}
const slotOf = (value: number) => bigIntToFixedBytes(BigInt(value), 32)
const keysOf = (address: string, ...slots: number[]): StateKeys => ({
  address: parseHex(address),
  slots: slots.map(slotOf),
})
const KEYS = [keysOf(TOKEN, 0, 1, 2, 3), keysOf(ALICE), keysOf(ABSENT_ACCOUNT, 5), keysOf(STORE, 1, 2)]

async function start(t: TestContext, faults: readonly (Fault | undefined)[], options: { clock?: Clock } = {}) {
  const upstreams = await Promise.all(faults.map((fault) => startScriptedUpstream(answers, fault)))
  const { log, lines } = keepLog()
  const rpc = openFixtureRpc(
    chain[0].block.hash,
    upstreams.map(({ url }) => url),
    { log, ...options },
  )
  t.after(async () => {
    rpc.close()
    await Promise.all(upstreams.map((upstream) => upstream.close()))
  })
  return { upstreams, rpc, lines }
}

/** A fault of the results of one method. */
function changing(method: string, change: (result: Json, call: UpstreamCall) => unknown): Fault {
  return {
    name: method,
    result: (call, result) => (call.method === method ? (change(result as Json, call) ?? result) : result),
  }
}

const failing = (methods: readonly string[], code: number, message: string): Fault => ({
  name: message,
  result: ({ method }, result) => {
    if (methods.includes(method)) throw new RpcFailure(code, message)
    return result
  },
})

/** The hex text with its last digit changed. */
const bump = (text: unknown) => String(text).replace(/.$/, (digit) => (digit === '1' ? '2' : '1'))

describe('state of upstreams, by proofs', () => {
  for (const number of [20, 65, chain.length - 1]) {
    it(`proves accounts and slots after block ${number}`, async (t) => {
      const { rpc } = await start(t, [undefined])
      const block = blockAt(number)
      const proved = await rpc.proofs(KEYS, block)
      assert.equal(proved.length, KEYS.length)
      const tag = formatQuantity(number)
      for (const [i, { address, slots, account, values, nodes }] of proved.entries()) {
        assert.deepEqual([address, slots], [KEYS[i].address, KEYS[i].slots])
        const data = formatData(address)
        assert.equal(formatQuantity(account?.balance ?? 0n), await answers.result('eth_getBalance', [data, tag]))
        assert.equal(formatQuantity(account?.nonce ?? 0n), await answers.result('eth_getTransactionCount', [data, tag]))
        const code = parseHex(String(await answers.result('eth_getCode', [data, tag])))
        assert.deepEqual(account?.codeHash ?? EMPTY_CODE_HASH, keccak256(code))
        for (const [s, slot] of slots.entries()) {
          const stored = await answers.result('eth_getStorageAt', [data, formatData(slot), tag])
          assert.deepEqual(values[s], trimLeft(parseHex(String(stored))))
        }
        assert.ok(nodes.some((node) => Buffer.compare(keccak256(node), block.stateRoot) === 0))
      }
      assert.equal(proved[2].account, undefined)
      assert.deepEqual(proved[2].values, [EMPTY_BYTES])
      assert.ok(number < 20 || proved[0].values.some((value) => value.length > 0))
    })
  }

  it('accepts the zero hashes that geth has for an account that does not exist, and shorter keys', async (t) => {
    const zero = `0x${'0'.repeat(64)}`
    const { rpc } = await start(t, [
      changing('eth_getProof', (result) => {
        for (const entry of result.storageProof as Json[]) entry.key = formatQuantity(BigInt(String(entry.key)))
        if (result.address === ABSENT_ACCOUNT) Object.assign(result, { codeHash: zero, storageHash: zero })
      }),
    ])
    const proved = await rpc.proofs(KEYS, blockAt(70))
    assert.equal(proved[2].account, undefined)
    assert.equal(rpc.status()[0].state, 'ok')
  })

  const proofLies: [name: string, check: RegExp, change: (result: Json) => unknown][] = [
    ['another node of the account', /^proof: account$/, (each) => lieAt(each, 'accountProof')],
    [
      'the last node of the account is missing',
      /^proof: account$/,
      (each) => void (each.accountProof as string[]).pop(),
    ],
    ['a further node of the account', /^proof: account$/, (each) => void (each.accountProof as string[]).push('0xc0')],
    ['a node of the account is no hex', /^proof: account$/, (each) => void (each.accountProof as unknown[]).push(5)],
    ['no nodes of the account', /^proof: account$/, (each) => ({ ...each, accountProof: [] })],
    ['another balance', /^proof: account$/, (each) => ({ ...each, balance: bump(each.balance) })],
    ['another nonce', /^proof: account$/, (each) => ({ ...each, nonce: bump(each.nonce) })],
    ['another code hash', /^proof: account$/, (each) => ({ ...each, codeHash: bump(each.codeHash) })],
    ['another storage hash', /^proof: account$/, (each) => ({ ...each, storageHash: bump(each.storageHash) })],
    ['another address', /^proof: account$/, (each) => ({ ...each, address: BOB })],
    ['no object', /^proof: account$/, () => 'nonsense'],
    ['a number', /^proof: account$/, () => 5],
    ['another node of a slot', /^proof: slot$/, (each) => lieAt((each.storageProof as Json[])[0], 'proof')],
    ['no nodes of a slot', /^proof: slot$/, (each) => changeSlot(each, { proof: [] })],
    ['another value', /^proof: slot$/, (each) => changeSlot(each, { value: '0x77' })],
    ['another key', /^proof: slot$/, (each) => changeSlot(each, { key: formatData(slotOf(9)) })],
    ['slots in another order', /^proof: slot$/, (each) => void (each.storageProof as Json[]).reverse()],
    ['a slot is missing', /^proof: slot$/, (each) => void (each.storageProof as Json[]).pop()],
    [
      'a slot twice',
      /^proof: slot$/,
      (each) => void (each.storageProof as Json[]).push((each.storageProof as Json[])[0]),
    ],
    ['slots are no array', /^proof: slot$/, (each) => ({ ...each, storageProof: {} })],
  ]
  for (const [name, check, change] of proofLies) {
    it(`${name}: the upstream is quarantined and another is asked`, async (t) => {
      const lie = changing('eth_getProof', change)
      const prove = async () => {
        // A quarantine that does not end.
        const started = await start(t, [lie, undefined], { clock: createStandingClock() })
        const found = await started.rpc.proofs([keysOf(TOKEN, 0, 1, 2)], blockAt(70))
        assert.equal(found[0].account?.nonce, 1n)
        return started
      }
      let proved = await prove()
      // The other one is asked first where it connects first.
      for (let again = 0; again < 9 && proved.lines.length === 0; again++) proved = await prove()
      const { rpc, upstreams, lines } = proved
      const [named, ...others] = lines.filter(({ message }) => /quarantined/.test(message))
      assert.deepEqual([others.length, named.fields.upstream], [0, upstreams[0].url])
      assert.match(String(named.fields.check), check)
      assert.match(String(named.fields.problem), new RegExp(TOKEN))
      assert.deepEqual(
        rpc.status().map(({ state }) => state),
        ['quarantined', 'ok'],
      )
    })
  }

  it('refuses an account that is said not to exist', async (t) => {
    const absent = (await answers.result('eth_getProof', [ABSENT_ACCOUNT, [], '0x46'])) as Json
    const { rpc, lines } = await start(t, [
      {
        name: 'absent',
        result: ({ method }, right) => (method === 'eth_getProof' ? { ...absent, address: TOKEN } : right),
      },
      undefined,
    ])
    assert.ok((await rpc.proofs([keysOf(TOKEN)], blockAt(70)))[0].account)
    assert.ok(lines.some(({ fields }) => fields.check === 'proof: account'))
  })

  const unavailable: [client: string, code: number, message: string][] = [
    ['geth', -32000, `missing trie node ${'ab'.repeat(32)} (path ) state 0x${'ab'.repeat(32)} is not available`],
    ['geth, path scheme', -32000, `historical state ${'ab'.repeat(32)} is not available`],
    ['geth, path scheme, later', -32000, 'historical state not available in path scheme yet'],
    ['geth, unknown block', -32000, 'header for hash not found'],
    ['reth', -32000, 'distance to target block exceeds maximum proof window'],
    ['reth, pruned', -32000, 'state at block #5 is pruned'],
    ['reth, unknown block', -32001, `block not found: hash ${'ab'.repeat(32)}`],
    ['Nethermind', -32002, `No state available for block ${'ab'.repeat(32)}`],
    ['Nethermind, pruned', -32000, 'The requested state for block 5 is unavailable due to pruning'],
    ['Besu', -32000, 'World state unavailable'],
    ['Erigon', -32000, 'requested block is too old, block must be within 100000 blocks of the head block number'],
    ['Erigon 3', -32000, 'historical proofs are not available: commitment history is not enabled'],
    ['a provider', -32600, 'Archive requests require a paid plan'],
    ['pruned history', 4444, 'pruned history unavailable'],
  ]
  for (const [client, code, message] of unavailable) {
    it(`${client}: a state that is not available is no failure`, async (t) => {
      const fault = failing(['eth_getProof', 'eth_getCode'], code, message)
      const { rpc, upstreams, lines } = await start(t, [fault, undefined])
      assert.ok((await rpc.proofs([keysOf(ALICE)], blockAt(70)))[0].account)
      upstreams[1].fault = fault
      await assert.rejects(rpc.proofs([keysOf(ALICE)], blockAt(70)), (error) => {
        assert.ok(error instanceof StateNotAtUpstream)
        assert.deepEqual([error.blockNumber, error.reason], [70, message])
        assert.match(error.message, /the state of block 70 is not available: /)
        return true
      })
      const codes = rpc.codes([{ address: parseHex(TOKEN), codeHash: slotOf(1) }], blockAt(70))
      await assert.rejects(codes, StateNotAtUpstream)
      assert.deepEqual(
        rpc.status().map(({ state, failures }) => [state, failures]),
        [
          ['ok', 0],
          ['ok', 0],
        ],
      )
      assert.deepEqual(lines, [])
    })
  }

  it('remembers that an upstream lacks the method', async (t) => {
    for (const fault of [
      { name: 'lacks', lacks: ['eth_getProof'] },
      failing(['eth_getProof'], -32600, 'Unsupported method: eth_getProof. See available methods'),
    ]) {
      const { rpc, upstreams } = await start(t, [fault])
      for (let i = 0; i < 3; i++) {
        await assert.rejects(
          rpc.proofs([keysOf(ALICE)], blockAt(70)),
          /the state of block 70 is not available: no eth_getProof \(reth needs --rpc\.eth-proof-window\)/,
        )
      }
      assert.equal(upstreams[0].requests.flat().filter((method) => method === 'eth_getProof').length, 1)
      const both = await start(t, [fault, undefined])
      assert.ok((await both.rpc.proofs([keysOf(ALICE)], blockAt(70)))[0].account)
    }
  })

  it('names the block by number where hashes are refused, and remembers that', async (t) => {
    const params: unknown[] = []
    const fault = changing('eth_getProof', (_, call) => {
      params.push(call.params[2])
      if (typeof call.params[2] === 'object')
        throw new RpcFailure(-32602, 'invalid argument 2: cannot unmarshal object')
    })
    const { rpc, upstreams } = await start(t, [fault])
    for (let i = 0; i < 2; i++) assert.ok((await rpc.proofs([keysOf(ALICE)], blockAt(70)))[0].account)
    assert.deepEqual(params, [{ blockHash: formatData(blockAt(70).hash) }, '0x46', '0x46'])
    // After a reorg the number names another block: the upstream is not to blame.
    upstreams[0].fault = { name: 'another block of that number', result: answerAfterReorg }
    await assert.rejects(rpc.proofs([keysOf(ALICE)], blockAt(70)), /its block 70 is another one/)
    assert.equal(rpc.status()[0].state, 'ok')
  })

  it('splits large requests, and returns all in order', async (t) => {
    const calls: number[] = []
    const counting = changing('eth_getProof', (_, call) => void calls.push((call.params[1] as unknown[]).length))
    const { rpc, upstreams } = await start(t, [counting])
    const many = Array.from({ length: 2500 }, (_, i) => i)
    const few = Array.from({ length: 70 }, (_, i) => keysOf(i % 2 === 0 ? ALICE : BOB, i))
    const requests = [...few.slice(0, 40), keysOf(TOKEN, ...many), ...few.slice(40)]
    const proved = await rpc.proofs(requests, blockAt(70))
    assert.deepEqual(
      proved.map(({ address, slots }) => ({ address, slots })),
      requests,
    )
    assert.deepEqual(
      proved.map(({ values }) => values.length),
      requests.map(({ slots }) => slots.length),
    )
    assert.deepEqual(
      calls.filter((count) => count > 1).sort((a, b) => a - b),
      [452, 1024, 1024],
    )
    assert.equal(calls.length, 73)
    assert.ok(upstreams[0].requests.some((batch) => batch.length > 1))
    const [direct] = await rpc.proofs([keysOf(TOKEN, 1025, 2)], blockAt(70))
    assert.deepEqual(direct.values, [proved[40].values[1025], proved[40].values[2]])
    // Together more slots than one request may have.
    const before = upstreams[0].requests.length
    await rpc.proofs([keysOf(TOKEN, ...many.slice(0, 600)), keysOf(STORE, ...many.slice(0, 600))], blockAt(70))
    assert.deepEqual(upstreams[0].requests.slice(before), [['eth_getProof'], ['eth_getProof']])
    assert.deepEqual(await rpc.proofs([], blockAt(70)), [])
  })

  for (const [name, code, message] of [
    ['a limit of slots', -32602, 'too many storage keys requested (max 100, got 1024)'],
    ['a limit of the response', -32008, 'response size exceeded'],
  ] as const) {
    it(`${name}: asks for fewer slots at a time`, async (t) => {
      const calls: number[] = []
      const limited = changing('eth_getProof', (_, { params: [, slots] }) => {
        const { length } = slots as unknown[]
        if (length > 100) throw new RpcFailure(code, message)
        calls.push(length)
      })
      const { rpc } = await start(t, [limited])
      const many = Array.from({ length: 801 }, (_, i) => i)
      const requests = [keysOf(ALICE), keysOf(TOKEN, ...many), keysOf(STORE, 1, 2, 3)]
      const proved = await rpc.proofs(requests, blockAt(70))
      const unlimited = await start(t, [undefined])
      const expected = await unlimited.rpc.proofs(requests, blockAt(70))
      const withoutNodes = expected.map(({ nodes, ...rest }) => rest)
      assert.deepEqual(
        proved.map(({ nodes, ...rest }) => rest),
        withoutNodes,
      )
      assert.ok(Math.max(...calls) > 50)
    })
  }

  it('retries after a failure, and stops when the signal aborts', async (t) => {
    const { rpc, upstreams } = await start(t, [{ name: 'cut', times: 3, respond: (response) => response.destroy() }])
    assert.ok((await rpc.proofs([keysOf(ALICE)], blockAt(70)))[0].account)
    upstreams[0].fault = { name: 'stalled', respond: () => {} }
    const stop = new AbortController()
    const waiting = [
      rpc.proofs(KEYS, blockAt(70), stop.signal),
      rpc.codes([{ address: parseHex(TOKEN), codeHash: slotOf(1) }], blockAt(70), stop.signal),
      rpc.executionWitness({ ...blockAt(70), parentStateRoot: slotOf(1) }, stop.signal),
      rpc.accessListHint({ to: TOKEN }, blockAt(70), stop.signal),
      rpc.blockAccessList(blockAt(70), stop.signal),
      rpc.probeState(stop.signal),
    ]
    setImmediate(() => stop.abort(new Error('stopped')))
    for (const each of waiting) await assert.rejects(each, /stopped/)
  })

  it('fetches codes, those of one hash once, and nothing for no code', async (t) => {
    const { rpc, upstreams } = await start(t, [undefined])
    const proved = await rpc.proofs([keysOf(TOKEN), keysOf(EMITTER), keysOf(ALICE)], blockAt(70))
    const [token, emitter, alice] = proved.map(({ address, account }) => ({ address, codeHash: account!.codeHash }))
    const before = upstreams[0].requests.length
    const codes = await rpc.codes([token, alice, emitter, token], blockAt(70))
    assert.deepEqual(
      codes.map(keccak256),
      [token, alice, emitter, token].map(({ codeHash }) => codeHash),
    )
    assert.deepEqual(upstreams[0].requests.slice(before), [['eth_getCode', 'eth_getCode']])
  })

  for (const [name, code] of [
    ['another code', '0x60'],
    ['no hex', 'zz'],
    ['no code', '0x'],
  ]) {
    it(`${name}: the upstream is quarantined and another is asked`, async (t) => {
      const { rpc, lines } = await start(t, [changing('eth_getCode', () => code), undefined])
      const expected = parseHex(String(await answers.result('eth_getCode', [TOKEN, '0x46'])))
      const request = { address: parseHex(TOKEN), codeHash: keccak256(expected) }
      assert.deepEqual(await rpc.codes([request], blockAt(70)), [expected])
      assert.deepEqual(
        lines.map(({ fields }) => fields.check),
        ['code hash'],
      )
    })
  }
})

/** Answers as after a reorg: block 70 has another hash and another state. */
async function answerAfterReorg({ method, params }: UpstreamCall, right: unknown): Promise<unknown> {
  if (method === 'eth_getProof') return answers.result(method, [ALICE, [], '0x45'])
  if (method !== 'eth_getBlockByNumber' || params[0] !== '0x46') return right
  const header = { ...chain[70].block.header, extraData: Uint8Array.of(1) }
  return { ...(right as Json), extraData: '0x01', hash: formatData(hashHeader(header)) }
}

function changeSlot(result: Json, change: Json): void {
  Object.assign((result.storageProof as Json[])[0], change)
}

/** Changes the last digit of the last node. */
function lieAt(result: Json, name: string): void {
  const nodes = result[name] as string[]
  nodes[nodes.length - 1] = bump(nodes.at(-1))
}
