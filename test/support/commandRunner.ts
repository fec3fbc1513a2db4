import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Ended } from './cairn.js'

/** A command line after `cairn`, and the `CAIRN_…` variables of its environment. */
export interface CommandOrder {
  readonly args: readonly string[]
  readonly env: { readonly [name: string]: string }
}

/** Written to both streams after what a command writes. */
export const COMMAND_END = '\0end of the command\0'

const PROGRAM = fileURLToPath(new URL('./commandProcess.js', import.meta.url))

/** A process that runs commands of the built program one after the other. */
class CommandRunner {
  isBusy = false
  readonly #child: ChildProcess
  readonly #closed: Promise<Pick<Ended, 'code' | 'signal'>>
  #written = { stdout: '', stderr: '' }
  #code: number | undefined
  #onWritten = () => {}

  constructor() {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('CAIRN_')))
    this.#child = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], env })
    for (const name of ['stdout', 'stderr'] as const) {
      this.#child[name]!.setEncoding('utf8').on('data', (text: string) => {
        this.#written[name] += text
        this.#onWritten()
      })
    }
    this.#control.setEncoding('utf8').on('data', (text: string) => {
      this.#code = Number(text)
      this.#onWritten()
    })
    this.#closed = new Promise((resolve, reject) => {
      this.#child.on('error', reject)
      this.#child.on('close', (code, signal) => resolve({ code, signal }))
    })
    this.#setReferenced(false)
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  get #control(): Socket {
    return this.#child.stdio[3] as Socket
  }

  /** Runs one to its end. */
  async run(order: CommandOrder): Promise<Ended> {
    this.isBusy = true
    this.#setReferenced(true)
    this.#written = { stdout: '', stderr: '' }
    this.#code = undefined
    const ended = new Promise<Ended>((resolve) => {
      this.#onWritten = () => {
        const { stdout, stderr } = this.#written
        if (this.#code === undefined || ![stdout, stderr].every((text) => text.endsWith(COMMAND_END))) return
        const [out, err] = [stdout, stderr].map((text) => text.slice(0, -COMMAND_END.length))
        resolve({ code: this.#code, signal: null, stdout: out, stderr: err })
      }
    })
    this.#control.write(`${JSON.stringify(order)}\n`)
    const result = await Promise.race([ended, this.#closed.then((end) => ({ ...end, ...this.#written }))])
    this.isBusy = false
    this.#setReferenced(false)
    return result
  }

  /** Lets it end; its processor time is then counted as that of this process. */
  end(): void {
    this.#setReferenced(true)
    this.#control.end()
  }

  /** An idle one does not keep this process alive. */
  #setReferenced(isReferenced: boolean): void {
    for (const each of [this.#child, ...this.#child.stdio.slice(1)] as (ChildProcess | Socket)[]) {
      if (isReferenced) each.ref()
      else each.unref()
    }
  }
}

let runner: CommandRunner | undefined

process.once('beforeExit', () => runner?.end())

/** Runs a command of the built program in a process that has run others before: loading the program takes 0.2 to 0.5 s
 *  of processor time. Undefined when that process is busy with another one. */
export function runInRunner(order: CommandOrder): Promise<Ended> | undefined {
  if (runner?.isBusy) return undefined
  if (runner?.isOver !== false) runner = new CommandRunner()
  return runner.run(order)
}
