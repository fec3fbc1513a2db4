import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAbiItem, toFunctionSignature } from 'viem'
import { formatType } from '../../../src/decoding/abiTypes.js'
import { parseSignatureText } from '../../../src/decoding/signatures/signatureText.js'
import { seededRandom } from '../../support/random.js'
import { randomParameter } from '../../support/randomAbi.js'

test('parses the signatures of random functions to their types', () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = seededRandom(seed)
    const inputs = Array.from({ length: random.below(6) }, (_, i) => randomParameter(random, `a${i}`))
    const text = toFunctionSignature({ type: 'function', name: 'f', inputs, outputs: [], stateMutability: 'view' })
    const parsed = parseSignatureText(text)
    assert.equal(parsed?.name, 'f', text)
    assert.equal(`f(${parsed?.inputs.map(({ type }) => formatType(type)).join(',')})`, text)
  }
})

test('knows the type function as viem does', () => {
  const item = parseAbiItem('function f(function callback, uint256)' as never) as never
  assert.equal(toFunctionSignature(item), 'f(function,uint256)')
  assert.notEqual(parseSignatureText('f(function,uint256)'), undefined)
})

test('refuses text that no compiler hashes', () => {
  const cases = [
    '',
    'f',
    'f(',
    'f()x',
    'f(uint)', // an alias
    'f(uint256,)',
    'f(,uint256)',
    'f(uint256 a)',
    'f(uint256, address)',
    ' f()',
    'f()\n',
    'f(())',
    'f(tuple)',
    'f(tuple[])',
    'f((uint256)',
    'f(uint256))',
    'f(uint256)(uint256)',
    'f(uint257)',
    'f(uint08)',
    'f(uint256[0])',
    'f(uint256[02])',
    'f(uint8[9999999])',
    'f(address)[]',
    'fé()',
    'f\u202e()',
    '<b>()',
    '1f()',
    'f(bytes33)',
    `f(${'('.repeat(20)}uint8${')'.repeat(20)})`,
    `f(uint8${'[]'.repeat(17)})`,
    `f(${Array(257).fill('bool').join(',')})`,
    `${'f'.repeat(257)}()`,
    `f(${Array(200).fill('uint256').join(',')})`,
  ]
  for (const text of cases) assert.equal(parseSignatureText(text), undefined, text.slice(0, 80))
})

test('damaged signatures are refused or are canonical again', () => {
  const random = seededRandom(7)
  const characters = 'ab(),[]0123uint8address \u00e9'
  const whole = 'swap((address,uint256[2][],(bytes32,bool)[])[3],string,bytes4)'
  for (let i = 0; i < 20_000; i++) {
    const at = random.below(whole.length)
    const text = whole.slice(0, at) + characters[random.below(characters.length)] + whole.slice(at + random.below(3))
    const parsed = parseSignatureText(text)
    if (parsed === undefined) continue
    assert.equal(`${parsed.name}(${parsed.inputs.map(({ type }) => formatType(type)).join(',')})`, text)
  }
})
