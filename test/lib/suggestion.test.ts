import assert from 'node:assert/strict'
import { test } from 'node:test'
import { didYouMean, nearestWord } from '../../src/lib/suggestion.js'

const WORDS = ['import', 'serve', 'keys', 'status', 'explain-logs', 'verify']

test('a word with a letter wrong, missing, doubled or swapped leads to the one that was meant', () => {
  for (const [typed, meant] of [
    ['imprt', 'import'],
    ['imoprt', 'import'],
    ['Import', 'import'],
    ['servee', 'serve'],
    ['sevre', 'serve'],
    ['key', 'keys'],
    ['statsu', 'status'],
    ['explain-log', 'explain-logs'],
    ['explainlogs', 'explain-logs'],
    ['verfiy', 'verify'],
  ]) {
    assert.equal(nearestWord(typed, WORDS), meant, typed)
  }
})

test('the beginning of a single word leads to it', () => {
  assert.equal(nearestWord('expl', WORDS), 'explain-logs')
  assert.equal(nearestWord('warning', ['debug', 'warn']), 'warn')
  assert.equal(nearestWord('ab', ['abcdef', 'abcxyz']), undefined)
})

test('a word that is near to nothing gives no advice', () => {
  for (const typed of ['', 'x', 'nonsense', 'delete', 'run']) assert.equal(nearestWord(typed, WORDS), undefined, typed)
  assert.equal(didYouMean('nonsense', WORDS), '')
  assert.equal(didYouMean('imprt', WORDS), ' (did you mean import?)')
})
