import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'

const WIDTH = 120 // as biome.json wraps code, which leaves comments as they are

test('comments are wrapped as code is', () => {
  const wide = ['src', 'test', 'bench', 'tools'].flatMap((folder) => {
    const root = packagePath(folder)
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name))
    assert.ok(names.length > 20, folder)
    return names.flatMap((name) =>
      readFileSync(join(root, name), 'utf8')
        .split('\n')
        .flatMap((line, i) =>
          /^\s*(\/\/|\/?\*)/.test(line) && line.length > WIDTH ? [`${folder}/${name}:${i + 1}`] : [],
        ),
    )
  })
  assert.deepEqual(wide, [])
})
