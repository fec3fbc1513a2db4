import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { JsonRpcProvider } from 'ethers'
import { serveFixture } from '../support/cairn.js'
import { ABSENT_ACCOUNT, HEAD } from '../support/chains/fixtureChain.js'
import { resultOf } from '../support/rpcClient.js'

/* Choices of the API specification and of geth, from the program. */

const specified = await serveFixture({ after })
const asGeth = await serveFixture({ after }, ['--compat', 'geth'])

interface PendingBlock {
  number: string | null
  logsBloom: string | null
  hash: null
  nonce: null
  parentHash: string
}

const pendingOf = (url: string) => resultOf<PendingBlock>(url, 'eth_getBlockByNumber', ['pending', false])

test('the pending block has no number and no bloom unless asked for', async () => {
  const { number, logsBloom, hash, nonce } = await pendingOf(specified.url)
  assert.deepEqual([number, logsBloom, hash, nonce], [null, null, null, null])
})

test("with --compat geth it has geth's number and bloom, and the rest is the same", async () => {
  const { number, logsBloom, ...rest } = await pendingOf(asGeth.url)
  assert.equal(number, `0x${(HEAD + 1).toString(16)}`)
  assert.equal(logsBloom, `0x${'0'.repeat(512)}`)
  const other = await pendingOf(specified.url)
  const lasting = { timestamp: 0, number: 0, logsBloom: 0 }
  assert.deepEqual({ ...rest, ...lasting }, { ...other, ...lasting })
})

test('with --compat geth the proof of an absent account has zero hashes, from whatever thread', async () => {
  const hashesOf = async (url: string) => {
    const proof = await resultOf<{ codeHash: string; storageHash: string }>(url, 'eth_getProof', [
      ABSENT_ACCOUNT,
      [],
      'latest',
    ])
    return [proof.codeHash, proof.storageHash]
  }
  const zero = `0x${'00'.repeat(32)}`
  assert.deepEqual(await hashesOf(asGeth.url), [zero, zero])
  assert.deepEqual((await hashesOf(specified.url)).includes(zero), false)
})

test('ethers reads the pending block of --compat geth', async (t) => {
  const provider = new JsonRpcProvider(asGeth.url, undefined, { staticNetwork: true })
  t.after(() => provider.destroy())
  const [pending, head] = [await provider.getBlock('pending'), await provider.getBlock('latest')]
  assert.equal(pending?.number, HEAD + 1)
  assert.equal(pending?.parentHash, head?.hash)
  assert.equal(pending?.transactions.length, 0)
})
