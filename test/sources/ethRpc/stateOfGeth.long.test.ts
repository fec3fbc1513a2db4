import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { keccak256 } from '../../../src/chain/crypto.js'
import { EMPTY_CODE_HASH } from '../../../src/chain/eth/emptyHashes.js'
import { unreachableNodes, verifyAccountProof } from '../../../src/chain/eth/proof.js'
import { bigIntToFixedBytes, padLeft } from '../../../src/lib/bytes.js'
import { formatData, formatQuantity, parseHex } from '../../../src/lib/hex.js'
import { openEthRpc } from '../../../src/sources/ethRpc/ethRpc.js'
import type { StateBlock } from '../../../src/sources/ethRpc/stateTypes.js'
import { StateNotAtUpstream } from '../../../src/sources/upstreams/errors.js'
import type { StateKeys } from '../../../src/trie/missingNodes.js'
import { FAST_CLOCK, keepLog } from '../../support/chains/rightChain.js'
import { resultOf } from '../../support/rpcClient.js'
import { type Peer, startTraffic } from '../../support/upstream/followPeer.js'
import { SKIP_GETH, startGethPeer } from '../../support/upstream/geth.js'

/* State of a running geth: every proof, code and witness is verified, and compared with what geth answers plainly. */

// A full node has the states of 128 blocks.
const BLOCKS = 160
const ABSENT = `0x${'0'.repeat(32)}deadbeef`

for (const { name, args } of [
  { name: 'hash scheme', args: ['--gcmode=full'] },
  { name: 'path scheme', args: ['--gcmode=full', '--state.scheme=path'] },
]) {
  test(`fetches state of a full geth, ${name}`, { skip: SKIP_GETH }, async (t) => {
    const peer = await startGethPeer(t, args)
    const traffic = await startTraffic(peer)
    await traffic.mine(BLOCKS)
    const { rpc, lines } = await open(t, peer)
    const head = (await rpc.head()).header.number
    const senders = await resultOf<string[]>(peer.url, 'eth_accounts')
    const accounts = [...traffic.loggers, ...senders, ABSENT]
    const keys: StateKeys[] = accounts.map((each) => ({
      address: parseHex(each),
      slots: [0, 1, 2 ** 40].map((slot) => bigIntToFixedBytes(BigInt(slot), 32)),
    }))
    assert.deepEqual(await rpc.probeState(), { witness: true, proofs: true })
    let logged = 0
    let sent = 0
    for (let number = head - 100; number <= head; number += 20) {
      const { hash, header } = (await rpc.headerByNumber(number))!
      const block: StateBlock = { number, hash, stateRoot: header.stateRoot }
      const proved = await rpc.proofs(keys, block)
      const tag = formatQuantity(number)
      for (const { address, account, slots, values } of proved) {
        const data = formatData(address)
        assert.equal(formatQuantity(account?.balance ?? 0n), await resultOf(peer.url, 'eth_getBalance', [data, tag]))
        const nonce = await resultOf(peer.url, 'eth_getTransactionCount', [data, tag])
        assert.equal(formatQuantity(account?.nonce ?? 0n), nonce)
        for (const [i, slot] of slots.entries()) {
          const stored = await resultOf(peer.url, 'eth_getStorageAt', [data, formatData(slot), tag])
          assert.equal(formatData(padLeft(values[i], 32)), stored)
          logged += values[i].length
        }
      }
      const requests = proved.map(({ address, account }) => ({
        address,
        codeHash: account?.codeHash ?? EMPTY_CODE_HASH,
      }))
      const codes = await rpc.codes(requests, block)
      assert.deepEqual(
        codes.map((code) => keccak256(code)),
        requests.map(({ codeHash }) => codeHash),
      )

      const parent = (await rpc.headerByNumber(number - 1))!
      const parentStateRoot = parent.header.stateRoot
      const witness = (await rpc.executionWitness({ number, hash, parentStateRoot }))!
      assert.equal(unreachableNodes(witness.nodes, parentStateRoot), 0)
      // The witness has the paths of all senders.
      const { transactions } = (await rpc.getBlock(hash))!.block
      const sending = transactions.map(({ from }) => ({ address: from, slots: [] }))
      const before = await rpc.proofs(sending, { number: number - 1, hash: parent.hash, stateRoot: parentStateRoot })
      const inWitness = new Set(witness.nodes.map(formatData))
      for (const { address, account, nodes } of before) {
        assert.ok(nodes.every((node) => inWitness.has(formatData(node))))
        assert.deepEqual(verifyAccountProof({ stateRoot: parentStateRoot, address, proof: nodes }), account)
        sent++
      }

      const call = { from: senders[0], to: traffic.loggers[0], data: `0x${'1'.padStart(64, '0')}` }
      const hint = await rpc.accessListHint(call, block)
      const slot0 = hint?.find(({ address }) => formatData(address) === traffic.loggers[0])?.slots.map(formatData)
      assert.deepEqual(slot0, [`0x${'0'.repeat(64)}`])
    }
    assert.ok(logged > 0 && sent > 0)

    // Block 1 is older than the states that it keeps.
    const { hash, header } = (await rpc.headerByNumber(1))!
    await assert.rejects(rpc.proofs(keys, { number: 1, hash, stateRoot: header.stateRoot }), (error) => {
      assert.ok(error instanceof StateNotAtUpstream)
      t.diagnostic(error.message)
      return true
    })
    await assert.rejects(
      rpc.codes([{ address: keys[0].address, codeHash: keccak256(hash) }], { number: 1, hash }),
      StateNotAtUpstream,
    )
    const [two, one] = [(await rpc.headerByNumber(2))!, header]
    assert.equal(await rpc.executionWitness({ number: 2, hash: two.hash, parentStateRoot: one.stateRoot }), undefined)
    // Neither does it have a block that does not exist.
    await assert.rejects(rpc.proofs(keys, { number: head, hash: keccak256(hash), stateRoot: hash }), StateNotAtUpstream)
    assert.deepEqual(
      rpc.status().map(({ state, failures }) => [state, failures]),
      [['ok', 0]],
    )
    assert.deepEqual(lines, [])
  })
}

async function open(t: TestContext, { url }: Peer) {
  const { log, lines } = keepLog()
  const genesis = await resultOf<{ hash: string }>(url, 'eth_getBlockByNumber', ['0x0', false])
  const chainId = BigInt(await resultOf<string>(url, 'eth_chainId'))
  const genesisHash = parseHex(genesis.hash)
  const rpc = openEthRpc({ upstreams: [{ url }], chainId, genesisHash, log, clock: FAST_CLOCK })
  t.after(() => rpc.close())
  return { rpc, lines }
}
