import assert from 'node:assert/strict'
import { test } from 'node:test'
import { viewOfPath } from '../../../src/server/page/explorerPaths.js'

const HASH = `0x${'ab'.repeat(32)}`
const ADDRESS = `0x${'CD'.repeat(20)}`

test('paths of EIP-3091 lead to their views', () => {
  for (const [path, view] of [
    ['/block/12', '../#/block/12'],
    ['/block/0x1f', '../#/block/0x1f'],
    ['/block/latest', '../#/block/latest'],
    [`/block/${HASH}`, `../#/block/${HASH}`],
    [`/tx/${HASH}`, `../#/tx/${HASH}`],
    [`/tx/${HASH}/`, `../../#/tx/${HASH}`],
    [`/address/${ADDRESS}`, `../#/address/${ADDRESS.toLowerCase()}`],
    [`/token/${ADDRESS}`, `../#/token/${ADDRESS.toLowerCase()}`],
  ]) {
    assert.equal(viewOfPath(path), view)
  }
})

test('other paths lead nowhere', () => {
  const paths = ['/', '/block', '/block/', '/block/-1', '/block/soon', `/block/${'1'.repeat(16)}`, '/tx/12', '/tx/0x12']
  const hostile = [
    `/tx/${HASH}0`,
    `//evil.example/${ADDRESS}`,
    `/address/${ADDRESS}//`,
    `/address/${ADDRESS}%0d%0aX: 1`,
  ]
  for (const path of [...paths, ...hostile, `/constructor/${ADDRESS}`, `/__proto__/${ADDRESS}`, '/health', '/v3/key']) {
    assert.equal(viewOfPath(path), undefined, path)
  }
})
