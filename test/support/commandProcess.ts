import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { packagePath } from '../../src/store/open.js'
import { COMMAND_END, type CommandOrder } from './commandRunner.js'

/* Runs the built program again and again, its modules loaded and its code compiled once: each line of file descriptor 3
 * is a command, answered with a line that has its exit code. What it wrote to either stream ends with `COMMAND_END`. */

const MAIN = packagePath('dist/cli/main.js')
const control = new Socket({ fd: 3 })
let count = 0

// Each command listens for failures of its output, and for signals.
for (const emitter of [process, process.stdout, process.stderr]) emitter.setMaxListeners(0)

for await (const line of createInterface({ input: control })) {
  const { args, env } = JSON.parse(line) as CommandOrder
  for (const name of Object.keys(process.env)) if (name.startsWith('CAIRN_')) delete process.env[name]
  Object.assign(process.env, env)
  process.argv = [process.execPath, MAIN, ...args]
  process.exitCode = undefined
  await import(`${pathToFileURL(MAIN).href}?command=${count++}`) // the program's modules stay those of the first one
  const code = process.exitCode ?? 0
  process.exitCode = undefined
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise((resolve) => stream.write(COMMAND_END, resolve))
  }
  control.write(`${code}\n`)
}
