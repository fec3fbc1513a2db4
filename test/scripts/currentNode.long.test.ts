import assert from 'node:assert/strict'
import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { packagePath } from '../../src/store/open.js'
import { spawnProgram } from '../support/cairn.js'
import { fetchNode, PINNED_NODES } from '../support/nodes.js'
import { temporaryDirectory } from '../support/temporary.js'

/* The scripts and the program on releases of Node that Cairn does not run on. */

const OLD_NODES = ['18.20.8', '20.19.5']

/** Stands in for npm: "installs" the Node that runs this test as the one that is asked for. */
const INSTALLER = `#!/bin/sh
echo "$*" >> "$TEST_CALLS"
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/\${3%@*}/bin" && ln -s "$TEST_NODE" "$2/node_modules/\${3%@*}/bin/node"
`

for (const version of OLD_NODES) {
  test(`a script that Node ${version} starts runs with a fetched Node`, async (t) => {
    const old = fetchNode(version, `fetching Node ${version}`)
    const folder = temporaryDirectory(t)
    mkdirSync(join(folder, 'scripts'))
    for (const name of ['currentNode.mjs', 'ensure.mjs'])
      cpSync(packagePath(`scripts/${name}`), join(folder, 'scripts', name))
    const script = join(folder, 'scripts', 'script.mjs')
    writeFileSync(
      script,
      `import './ensure.mjs'
      process.on('SIGTERM', () => process.exit(7))
      console.log(process.versions.node, process.argv.slice(2).join())
      setInterval(() => {}, 1000)`,
    )
    mkdirSync(join(folder, 'bin'))
    writeFileSync(join(folder, 'bin', 'npm'), INSTALLER)
    chmodSync(join(folder, 'bin', 'npm'), 0o755)
    const env = {
      PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`,
      TEST_NODE: process.execPath,
      TEST_CALLS: join(folder, 'calls'),
    }
    const start = async () => {
      const { child, ended, waitFor } = spawnProgram(old, [script, 'a', 'b'], { env })
      await waitFor('stdout', new RegExp(`^${process.versions.node.replaceAll('.', '\\.')} a,b\n`))
      child.kill('SIGTERM') // reaches the script, whose exit code is that of the process
      return ended
    }
    const first = await start()
    assert.equal(first.code, 7, first.stderr)
    assert.match(
      first.stderr,
      new RegExp(
        `^Node ${version} is older than 22\\.21: fetching Node ${PINNED_NODES[24]} into \\.node/ \\.\\.\\.\n  done in`,
      ),
    )
    const second = await start()
    assert.deepEqual([second.code, second.stderr], [7, ''])
  })

  test(`cairn on Node ${version} says which Node it needs`, async () => {
    const old = fetchNode(version, `fetching Node ${version}`)
    const { code, stdout, stderr } = await spawnProgram(old, [
      packagePath('dist/cli/main.js'),
      ...['serve', '--fixture', 'bundled'],
    ]).ended
    assert.deepEqual(
      [code, stdout, stderr],
      [
        2,
        '',
        `cairn: Cairn needs Node 22.21 or later; this is ${version}. Install a newer Node, or run it with 'npx node@24'\n`,
      ],
    )
  })
}

test('npm that has no such Node ends the script with what would work', async (t) => {
  const folder = temporaryDirectory(t)
  mkdirSync(join(folder, 'scripts'))
  cpSync(packagePath('scripts/currentNode.mjs'), join(folder, 'scripts', 'currentNode.mjs'))
  writeFileSync(
    join(folder, 'scripts', 'script.mjs'),
    "import { ensureCurrentNode } from './currentNode.mjs'\nawait ensureCurrentNode()",
  )
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'bin', 'npm'), '#!/bin/sh\nexit 1\n')
  chmodSync(join(folder, 'bin', 'npm'), 0o755)
  const env = { PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` }
  const old = fetchNode(OLD_NODES[0], `fetching Node ${OLD_NODES[0]}`)
  const { code, stderr } = await spawnProgram(old, [join(folder, 'scripts', 'script.mjs')], { env }).ended
  assert.equal(code, 1)
  assert.match(stderr, /npm has no Node 24\.\d+\.\d+ for \w+ \w+; install Node 22\.21 or later\n$/)
})

/** What the fetched Node may be where it does not run, and what is said of it. */
const NOT_EXECUTABLE = [
  { name: 'is not executable', make: 'echo text > "$NODE"', reason: /spawnSync .* EACCES/ },
  {
    name: 'needs newer libraries',
    make: `printf '#!/bin/sh\\necho "node: version GLIBC_2.99 not found" >&2; exit 1' > "$NODE"; chmod +x "$NODE"`,
    reason: /node: version GLIBC_2\.99 not found/,
  },
]

for (const { name, make, reason } of NOT_EXECUTABLE) {
  test(`a fetched Node that ${name} is reported with what would work`, async (t) => {
    const folder = temporaryDirectory(t)
    mkdirSync(join(folder, 'scripts'))
    cpSync(packagePath('scripts/currentNode.mjs'), join(folder, 'scripts', 'currentNode.mjs'))
    writeFileSync(
      join(folder, 'scripts', 'script.mjs'),
      "import { ensureCurrentNode } from './currentNode.mjs'\nawait ensureCurrentNode()",
    )
    mkdirSync(join(folder, 'bin'))
    const npm = join(folder, 'bin', 'npm')
    const head = INSTALLER.split('\n').filter((line) => line.startsWith('while'))
    writeFileSync(
      npm,
      `#!/bin/sh\n${head}\nNODE="$2/node_modules/\${3%@*}/bin/node"; mkdir -p "\${NODE%/*}"; ${make}\n`,
    )
    chmodSync(npm, 0o755)
    const old = fetchNode(OLD_NODES[0], `fetching Node ${OLD_NODES[0]}`)
    const env = { PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}` }
    const { code, stderr } = await spawnProgram(old, [join(folder, 'scripts', 'script.mjs')], { env }).ended
    assert.equal(code, 1, stderr)
    const last = stderr.trim().split('\n').at(-1)!
    assert.match(
      last,
      /\/\.node\/24.*\/bin\/node cannot be executed: .*; put the checkout .* or install Node 22\.21 or later$/,
    )
    assert.match(last, reason)
  })
}
