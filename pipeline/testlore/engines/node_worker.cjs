// The child process of `runtime: node`: it reads one request, writes one answer, and ends.
//
// Its argument is the node_modules folder that holds the SDK. Nothing outside of that folder is loaded.
// It loads the SDK before it reads, while its parent prepares the request.
"use strict";

const fs = require("node:fs");
const Module = require("node:module");
const path = require("node:path");

const LEAST_EF_SEARCH = 200;

class Fault extends Error {
  constructor(word, detail) {
    super(detail);
    this.word = word;
  }
}

/** The SDK's database class. Its own loader would also look for the native binding in the folders above, and at home. */
function load(modules) {
  const resolve = Module._resolveFilename;
  Module._resolveFilename = (...given) => {
    const found = resolve(...given);
    if (path.isAbsolute(found) && !found.startsWith(modules + path.sep)) {
      throw new Error(`${given[0]} lies outside of node_modules`);
    }
    return found;
  };
  let sdk;
  try {
    sdk = require(path.join(modules, "@ruvector", "core"));
  } catch (error) {
    throw new Fault("native-load-failed", String(error?.message ?? error).split("\n")[0]);
  }
  const methods = ["insertBatch", "len", "search"];
  if (!methods.every((name) => typeof sdk?.VectorDb?.prototype?.[name] === "function")) {
    throw new Fault("sdk-api-mismatch", "");
  }
  return sdk.VectorDb;
}

function open(VectorDb, request) {
  const options = { dimensions: request.dimensions, storagePath: request.path, distanceMetric: "Cosine" };
  return new VectorDb(options);
}

/** The numbers of a base64 text of little-endian float32. */
function floats(encoded) {
  const bytes = Buffer.from(encoded, "base64");
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

/** Make a new database of the request's rows. */
async function build(VectorDb, request) {
  const size = request.dimensions;
  const numbers = floats(request.vectors);
  const rows = [];
  for (let start = 0; start < numbers.length; start += size) {
    rows.push({ id: String(rows.length), vector: numbers.subarray(start, start + size) });
  }
  const db = open(VectorDb, request);
  await db.insertBatch(rows);
  return { count: await db.len() };
}

/** Compare the query with all rows. A score is the cosine distance. */
async function search(VectorDb, request) {
  let db;
  try {
    db = open(VectorDb, request);
  } catch (error) {
    throw new Fault("cache-corrupt", `the engine does not open it: ${error?.message ?? error}`);
  }
  const count = await db.len();
  if (count !== request.count) {
    return { count, hits: [] };
  }
  const efSearch = Math.max(2 * count, LEAST_EF_SEARCH); // the graph search is approximate, so look at far more rows
  const found = await db.search({ vector: floats(request.vector), k: count, efSearch }).catch((error) => {
    throw /dimension/i.test(error?.message) ? new Fault("cache-corrupt", "the database has other dimensions") : error;
  });
  return { count, hits: found.map((hit) => [row(hit.id), hit.score]) };
}

/** The row of an id; null for an id that is no row's, which our parent refuses. */
function row(id) {
  return /^(0|[1-9][0-9]{0,8})$/.test(id) ? Number(id) : null;
}

async function answer() {
  try {
    const VectorDb = load(process.argv[2]);
    const request = JSON.parse(fs.readFileSync(0, "utf8"));
    return await { build, search }[request.operation](VectorDb, request);
  } catch (error) {
    return { error: error?.word ?? "worker-failed", detail: String(error?.message ?? error) };
  }
}

answer().then((value) => fs.writeFileSync(1, JSON.stringify(value)));
