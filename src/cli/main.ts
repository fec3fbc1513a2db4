#!/usr/bin/env node
/* The program starts here. A server has a bundle of its own (scripts/bundle.mjs): what it shares with other commands is
 * not in files of their own then, and it starts in a tenth less processor time. */

const argv = process.argv.slice(2)
process.exitCode =
  argv[0] === 'serve'
    ? await (await import('./serveProgram.js')).runServeProgram(argv)
    : await (await import('./program.js')).runProgram(argv)
