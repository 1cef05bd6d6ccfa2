// The view of messages: the matrix of ranks, the largest pairs, sizes, and MPI functions.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goTo, launch, open, reportOf, screenshot, settled } from "./browser.js";
import { count, data, time } from "../src/numbers.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** The messages that the profile of a page was made of: sender, receiver, number, bytes. */
const pairsOf = reportOf;

/** Moves the cursor of the matrix from a cell to another, and returns what is read out. */
async function told(page, from, to) {
  const press = async (key, times) => {
    for (let at = 0; at < times; at += 1) await page.keyboard.press(key);
  };
  const [down, right] = [to[0] - from[0], to[1] - from[1]];
  await press(down < 0 ? "ArrowUp" : "ArrowDown", Math.abs(down));
  await press(right < 0 ? "ArrowLeft" : "ArrowRight", Math.abs(right));
  return page.textContent("#live");
}

function listed(page) {
  return page.$$eval(".pairs tbody tr", (rows) =>
    rows.map((row) => ({
      text: [...row.children].map((cell) => cell.textContent),
      numbers: [...row.querySelectorAll("td.number")].map((cell) => Number(cell.dataset.exact)),
    })),
  );
}

test("a page without messages has no view of them", async () => {
  const { page, wrong } = await open(browser, "one");
  assert.equal(await page.$$eval("#tab-communication", (tabs) => tabs.length), 0);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

for (const [measure, at] of [["bytes", 3], ["messages", 2]]) {
  test(`the ten pairs with the most ${measure} are those of the data`, async () => {
    const { page, wrong } = await open(browser, "messages");
    await goTo(page, "communication");
    await page.click(`#view-communication button:text-is("${measure}")`);
    const largest = pairsOf("messages").sort((a, b) => b[at] - a[at] || a[0] - b[0]).slice(0, 10);
    const rows = await listed(page);
    assert.deepEqual(rows.map(({ numbers }) => numbers), largest.map(([, , messages, bytes]) => [messages, bytes]));
    rows.forEach(({ text }, row) => {
      const [from, to, messages, bytes] = largest[row];
      assert.deepEqual(text, [`rank ${from}`, `rank ${to}`, count(messages), data(bytes)]);
    });
    assert.equal(await page.textContent(".pairs caption"), `The 10 largest of 32 pairs by ${measure}`);
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

test("the keyboard reaches every cell of the matrix, which has the numbers of the data", async () => {
  const { page, wrong } = await open(browser, "messages");
  await goTo(page, "communication");
  await screenshot(page, "communication");
  await page.focus("#view-communication canvas");
  let [cursor, cells] = [[0, -1], new Map(pairsOf("messages").map((pair) => [pair.slice(0, 2).join(), pair]))];
  for (const cell of [[0, 0], [0, 1], [0, 8], [3, 4], [3, 11], [15, 0], [14, 15]]) {
    const words = await told(page, cursor, cell);
    cursor = cell;
    const pair = cells.get(cell.join());
    const numbers = pair ? `${pair[2]} messages, ${data(pair[3])}, ${data(Math.round(pair[3] / pair[2]))} a message` : "no messages";
    assert.equal(words, `from rank ${cell[0]}, to rank ${cell[1]}, ${numbers}`);
    assert.equal(await page.isVisible("#tooltip"), true);
  }
  await page.keyboard.press("Enter");
  assert.match(await page.textContent("#selected"), /rank 14/);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("the pointer tells the same, and colours are those of the scale", async () => {
  const { page, wrong } = await open(browser, "messages");
  await goTo(page, "communication");
  await page.locator("#view-communication canvas").scrollIntoViewIfNeeded();
  const box = await page.locator("#view-communication canvas").boundingBox();
  const [left, top, height] = [76, 18, 384];
  const [x, y] = [left + (4.5 / 16) * (box.width - left - 1), top + (3.5 / 16) * height];
  await page.mouse.move(box.x + x, box.y + y);
  assert.match(await page.textContent("#tooltip"), /^from rank 3to rank 413 messages13\.0 kB1\.00 kB a message$/);
  await page.mouse.move(0, 0);
  // Reading single pixels twice makes Chromium give advice on the console.
  const colorsAt = (places) =>
    page.$eval(
      "#view-communication canvas",
      (canvas, places) => {
        const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        const at = ([x, y]) => 4 * (Math.floor(y * devicePixelRatio) * width + Math.floor(x * devicePixelRatio));
        return places.map((place) => [...data.slice(at(place), at(place) + 3)]);
      },
      places,
    );
  const swatch = await page.$eval("#view-communication .legend i", (stop) => stop.style.background);
  // The largest pairs have the first colour of the legend.
  const [largest, other] = await colorsAt([[left + (8.5 / 16) * (box.width - left - 1), top + (0.5 / 16) * height], [x, y]]);
  assert.equal(swatch.replace(/[^\d,]/g, ""), largest.join());
  assert.notDeepEqual(other, largest);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

/** The time that a rank of the page waits for the one before it, as its recipe says. */
const waitingNs = (rank) => 1e7 + 1e6 * rank;

test("waiting is in the matrix, and a cell tells the callpaths at both ends", async () => {
  const { page, wrong } = await open(browser, "messages");
  await goTo(page, "communication");
  await page.click('#view-communication button:text-is("waiting")');
  await page.focus("#view-communication canvas");
  const late = (rank) => `${time(waitingNs(rank))} in MPI_Recv, for MPI_Send`;
  let cursor = [0, -1];
  for (const [cell, words] of [
    [[0, 0], "rank 0 waiting, for rank 0, no waiting is known"],
    [[3, 4], `rank 4 waiting, for rank 3, ${time(waitingNs(4))}, ${late(4)}`],
    [[15, 1], "rank 1 waiting, for rank 15, 500 ns, 500 ns in MPI_Allreduce, for a call that is not known"],
    [[15, 0], `rank 0 waiting, for rank 15, ${time(waitingNs(0) + 500)}, ${late(0)}, 500 ns in MPI_Allreduce, for a call that is not known`],
  ]) {
    assert.equal(await told(page, cursor, cell), words);
    cursor = cell;
  }
  assert.equal(await page.isVisible(".causes"), false);
  await page.keyboard.press("Enter");
  assert.equal(await page.textContent(".causes caption"), `rank 0 waiting ${time(waitingNs(0) + 500)} for rank 15`);
  const rows = await page.$$eval(".causes tbody tr", (all) => all.map((row) => [...row.children].map((cell) => cell.dataset.exact ?? cell.textContent)));
  assert.deepEqual(rows, [
    ["main › exchange › MPI_Recv", "main › exchange › MPI_Send", String(waitingNs(0))],
    ["main › MPI_Allreduce", "not known", "500"],
  ]);
  await page.click('.causes button:has-text("MPI_Send")');
  assert.match(await page.textContent("#selected"), /MPI_Send.*rank 15/);
  await screenshot(page, "communication-waiting", { fullPage: true });
  const [worst, ...others] = (await listed(page)).map(({ numbers }) => numbers[1]);
  assert.deepEqual([worst, others.length], [waitingNs(15), 9]);
  assert.equal(await page.textContent(".pairs caption"), "The 10 largest of 30 pairs by waiting");
  assert.match(await page.textContent("#view-communication .note"), /1\.12 µs of waiting was for ranks that are not known/);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("the pointer chooses a cell, too", async () => {
  const { page, wrong } = await open(browser, "messages");
  await goTo(page, "communication");
  const canvas = page.locator("#view-communication canvas");
  const choose = async (row, column) => {
    const { width } = await canvas.boundingBox();
    const [left, top, height] = [76, 18, 384];
    await canvas.click({ position: { x: left + ((column + 0.5) / 16) * (width - left - 1), y: top + ((row + 0.5) / 16) * height } });
  };
  await choose(3, 4);
  assert.equal(await page.textContent(".causes caption"), `rank 4 waiting ${time(waitingNs(4))} for rank 3`);
  await choose(0, 8);
  assert.equal(await page.isVisible(".causes"), false, "rank 8 does not wait for rank 0");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("1,024 ranks share 512 rows, with the sums of their ranks", async () => {
  const { page, wrong } = await open(browser, "many-messages");
  await goTo(page, "communication");
  await screenshot(page, "communication-many", { fullPage: true });
  assert.match(await page.textContent("#view-communication .note"), /2 neighbouring ranks share a row and a column/);
  const bins = new Map();
  for (const [from, to, messages, bytes] of pairsOf("many-messages")) {
    const sum = bins.get(`${from >> 1},${to >> 1}`) ?? [0, 0];
    bins.set(`${from >> 1},${to >> 1}`, [sum[0] + messages, sum[1] + bytes]);
  }
  await page.focus("#view-communication canvas");
  let cursor = [0, -1];
  for (const [row, column] of [[0, 0], [1, 2], [2, 3], [3, 3], [4, 4]]) {
    const words = await told(page, cursor, [row, column]);
    cursor = [row, column];
    const [messages, bytes] = bins.get(`${row},${column}`) ?? [null];
    const numbers = messages === null ? "no messages" : `${messages} messages, ${data(bytes)}, ${data(Math.round(bytes / messages))} a message`;
    assert.equal(words, `from ranks ${2 * row} to ${2 * row + 1}, to ranks ${2 * column} to ${2 * column + 1}, ${numbers}`);
  }
  await page.keyboard.press("End");
  assert.match(await page.textContent("#live"), /to ranks 1022 to 1023/);
  const [first] = pairsOf("many-messages").sort((a, b) => b[3] - a[3]);
  assert.deepEqual((await listed(page))[0].numbers, first.slice(2), "pairs are single ranks");
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("sizes are those of the kind", async () => {
  const { page, wrong } = await open(browser, "messages");
  await goTo(page, "communication");
  const rows = () => page.$$eval(".sizes tbody tr", (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const sent = await rows();
  const near = pairsOf("messages").reduce((sum, [, , messages, bytes]) => sum + (bytes === messages * 1000 ? messages : 0), 0);
  assert.deepEqual(sent[0], ["4 B to < 8 B", "16", "80 B"]);
  assert.deepEqual(sent.at(-1), ["32 KiB to < 64 KiB", "32", data(32 * 40_000)]);
  assert.deepEqual(sent.find(([size]) => size === "512 B to < 1 KiB"), ["512 B to < 1 KiB", count(near), data(near * 1000)]);
  assert.equal(sent.length, 14, "classes between are empty");
  await page.selectOption("#view-communication select", "file_out");
  assert.deepEqual(await rows(), [["1 MiB to < 2 MiB", "16", data(16 * 2 ** 20)]]);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("functions are sorted by any column, by callpath and in all", async () => {
  const { page, wrong } = await open(browser, "messages");
  await goTo(page, "communication");
  const rows = () =>
    page.$$eval(".functions tbody tr", (all) =>
      all.map((row) => [row.querySelector(".name").textContent, row.querySelector(".path").textContent, ...[...row.querySelectorAll("td.number")].map((cell) => Number(cell.dataset.exact))]),
    );
  const sorted = () => page.$$eval(".functions th[aria-sort]", (all) => all.map((heading) => [heading.textContent.split(" ")[0], heading.getAttribute("aria-sort")]));
  const pairs = pairsOf("messages");
  const near = pairs.filter(([, , messages, bytes]) => bytes === messages * 1000).reduce((sum, [, , messages]) => sum + messages, 0);
  const bytes = pairs.reduce((sum, pair) => sum + pair[3], 0);
  const all = await rows();
  assert.deepEqual(await sorted(), [["Time", "descending"]]);
  assert.equal(all[0][0], "MPI_Recv");
  assert.deepEqual(all[0].slice(1, 3).concat(all[0].slice(4)), ["main › exchange", near + 32, 0, bytes]);
  assert.deepEqual(all.find(([, under]) => under === "at solve (lu.f:123)")[0], "MPI_Send");
  await page.focus('.functions [data-sort="bytes_out"]');
  await page.keyboard.press("Enter");
  assert.deepEqual(await sorted(), [["Bytes", "descending"]]);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.sort), "bytes_out");
  const out = (await rows()).map((row) => row[4]);
  assert.deepEqual(out, [...out].sort((a, b) => b - a));
  await page.click('#view-communication button:text-is("functions")');
  const send = (await rows()).find(([name]) => name === "MPI_Send");
  assert.deepEqual([send[1], send[4]], ["2 callpaths", bytes + 16 * 5]);
  await page.click('.functions [data-sort="name"]');
  const names = (await rows()).map(([name]) => name);
  assert.deepEqual(names, [...names].sort());
  await page.click('#view-communication button:text-is("callpaths")');
  await page.click('.functions tbody .link:has-text("MPI_Allreduce")');
  assert.match(await page.textContent("#selected"), /main › MPI_Allreduce/);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("dark, on a phone, and on paper", async () => {
  const { page, wrong } = await open(browser, "messages", { colorScheme: "dark", viewport: { width: 1280, height: 720 } });
  await goTo(page, "communication");
  await screenshot(page, "dark-communication");
  await screenshot(page, "dark-communication-all", { fullPage: true });
  await page.click("#theme");
  await settled(page);
  await screenshot(page, "light-communication");
  await screenshot(page, "light-communication-all", { fullPage: true });
  await page.setViewportSize({ width: 2560, height: 1440 });
  await page.click('#view-communication button:text-is("waiting")');
  await page.locator("#view-communication canvas").click({ position: { x: 200, y: 60 } });
  await settled(page);
  await screenshot(page, "light-communication-wide");
  await page.click("#theme");
  await settled(page);
  await screenshot(page, "dark-communication-wide");
  await page.click("#theme");
  await page.setViewportSize({ width: 390, height: 800 });
  await settled(page);
  await screenshot(page, "phone-communication", { fullPage: true });
  const [inner, content] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
  assert.ok(content <= inner, `${content} wide on a screen of ${inner}`);
  await page.pdf();
  assert.deepEqual(wrong, []);
  await page.context().close();
});
