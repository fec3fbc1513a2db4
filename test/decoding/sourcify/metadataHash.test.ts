import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { ipfsHash, metadataHashOfCode } from '../../../src/decoding/sourcify/metadataHash.js'
import { parseHex } from '../../../src/lib/hex.js'
import { seededRandom } from '../../support/random.js'
import { GATE_CODE, GATE_METADATA } from '../../support/solidity/gate.js'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

function base58(bytes: Uint8Array): string {
  let [value, text] = [BigInt(`0x${Buffer.from(bytes).toString('hex')}`), '']
  for (; value > 0n; value /= 58n) text = ALPHABET[Number(value % 58n)] + text
  return text
}

test('hashes files as IPFS does', () => {
  const known: [content: string, cid: string][] = [
    ['', 'QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH'],
    ['hello world', 'Qmf412jQZiuVUtdgnB36FXFX7xg5V6KEbSJ4dpQuhkLyfD'],
    ['hello world\n', 'QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o'],
  ]
  for (const [content, cid] of known) assert.equal(base58(ipfsHash(Buffer.from(content))!), cid)
})

test('the hash of metadata is the one that solc wrote into the code', () => {
  assert.deepEqual(metadataHashOfCode(parseHex(GATE_CODE)), ipfsHash(Buffer.from(GATE_METADATA)))
  assert.notDeepEqual(metadataHashOfCode(parseHex(GATE_CODE)), ipfsHash(Buffer.from(`${GATE_METADATA}\n`)))
})

test('files up to 256 KiB have a hash that depends on every byte, larger ones none', () => {
  const file = new Uint8Array(262_144)
  const hash = ipfsHash(file)
  assert.equal(hash?.length, 34)
  file[262_143] = 1
  assert.notDeepEqual(ipfsHash(file), hash)
  assert.equal(ipfsHash(new Uint8Array(262_145)), undefined)
})

test('code without the hash has none, whatever its last bytes say', () => {
  const digest = createHash('sha256').update('x').digest('hex')
  const withCbor = (cbor: string, length = cbor.length / 2) =>
    metadataHashOfCode(parseHex(`0x6000${cbor}${length.toString(16).padStart(4, '0')}`))
  const ipfs = `6469706673${'5822'}1220${digest}`
  assert.ok(withCbor(`a1${ipfs}`))
  assert.ok(withCbor(`a2${'64736f6c63'}43000811${ipfs}`), 'after another member')
  assert.ok(withCbor(`a2${'6c6578706572696d656e74616c'}f5${ipfs}`), 'after a flag')
  const without = [
    '',
    'a0',
    `81${ipfs}`, // a list
    `a1${'65627a7a7230'}5820${digest}`, // Swarm
    `a1${'6469706673'}5821${digest}00`, // 33 bytes
    `a1${'6469706673'}5822${digest}1220`, // no multihash of SHA2-256
    `a1${'6469706673'}5922`,
    `bf${ipfs}ff`, // of indefinite length
    `a1${ipfs.slice(0, -2)}`,
  ]
  for (const cbor of without) assert.equal(withCbor(cbor), undefined, cbor)
  assert.equal(withCbor(`a1${ipfs}`, 0xffff), undefined)
  assert.equal(metadataHashOfCode(new Uint8Array(0)), undefined)
  assert.equal(metadataHashOfCode(Uint8Array.of(0)), undefined)
  const random = seededRandom(5)
  const code = parseHex(GATE_CODE)
  for (let i = 0; i < 5000; i++) {
    const damaged = code.slice()
    for (let n = 0; n <= random.below(3); n++) damaged[damaged.length - 1 - random.below(60)] = random.below(256)
    const hash = metadataHashOfCode(damaged)
    assert.ok(hash === undefined || hash.length === 34)
  }
})
