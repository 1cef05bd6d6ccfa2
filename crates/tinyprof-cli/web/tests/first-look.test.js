// What a reader sees first: the cause, who waits for whom and the efficiency without scrolling; and in the map of ranks the
// regions that cost most.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { goTo, launch, open, reportOf, settled } from "./browser.js";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const bottomOf = (page, selector) => page.$eval(selector, (one) => one.getBoundingClientRect().bottom);

for (const name of ["all-4", "all-64", "all-4096"]) {
  test(`${name}: the cause, the matrix of waiting and the efficiency are on the first screen of 1280 x 800`, async () => {
    const { page, wrong } = await open(browser, name, { viewport: { width: 1280, height: 800 } });
    for (const part of [".why-card", ".waits-card", ".figures", ".efficiency-card"]) {
      assert.ok((await bottomOf(page, part)) <= 800, `${part} ends at ${await bottomOf(page, part)}`);
    }
    assert.deepEqual(wrong, []);
    await page.context().close();
  });
}

test("a cell of the small matrix leads to the callpaths behind it", async () => {
  const { page, wrong } = await open(browser, "all-4");
  await page.focus(".waits-card canvas");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
  const told = await page.textContent("#live");
  assert.match(told, /^rank 3.* waiting, for rank 2.*, \d.* in MPI_\w+/);
  await page.keyboard.press("Enter");
  await settled(page);
  assert.equal(await page.getAttribute("#tab-communication", "aria-selected"), "true");
  assert.equal(await page.getAttribute('#view-communication button:text-is("waiting")', "aria-pressed"), "true");
  assert.match(await page.textContent("#view-communication .causes caption"), /^rank 3.* waiting .* for rank 2/);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("a call that waits tells for whom, and a region that computes does not", async () => {
  const { page } = await open(browser, "all-4");
  const causes = await page.$$eval(".costliest tbody tr", (rows) => rows.map((row) => [row.querySelector(".name").textContent, row.querySelector("td.rank .path")?.textContent ?? ""]));
  const [waiting, others] = [causes.filter(([name]) => /^MPI_(Recv|Allreduce)/.test(name)), causes.filter(([name]) => !name.startsWith("MPI_"))];
  assert.ok(waiting.length > 0 && others.length > 0);
  waiting.forEach(([name, words]) => assert.match(words, /^waits, most for rank \d$/, name));
  assert.deepEqual(others.filter(([, words]) => words !== ""), []);
  await page.context().close();
});

test("the map of ranks begins with the time that is lost, and regions below 1 % are folded", async () => {
  const { page, wrong } = await open(browser, "all-4");
  await goTo(page, "ranks");
  assert.equal(await page.getAttribute('#view-ranks button:text-is("time lost")', "aria-pressed"), "true");
  assert.match(await page.textContent("#view-ranks .legend"), /−\d.*s.*mean.*\+\d.*s/);
  const { callpaths, total_inclusive_ns: total } = reportOf("all-4");
  const large = callpaths.filter(({ exclusive_ns: own }) => own && own.sum >= 0.01 * total).length;
  const all = callpaths.filter(({ exclusive_ns: own }) => own).length;
  const fold = page.locator("#view-ranks button:has-text('of the time')");
  assert.match(await fold.textContent(), new RegExp(`^Show ${all - large} more regions below 1 %`));
  const high = () => page.$eval("#view-ranks canvas", (canvas) => canvas.clientHeight);
  const before = await high();
  await fold.click();
  assert.ok((await high()) > before);
  await fold.click();
  assert.equal(await high(), before);
  assert.deepEqual(wrong, []);
  await page.context().close();
});

test("ranks that share a pixel show the slowest of them or their mean, and ranks are sorted by host", async () => {
  const { page, wrong } = await open(browser, "wide");
  await goTo(page, "ranks");
  const picture = () => page.$eval("#view-ranks canvas", (canvas) => canvas.toDataURL());
  const slowest = await picture();
  await page.click('#view-ranks button:text-is("mean")');
  assert.match(await page.textContent("#view-ranks .note"), /share a pixel their mean shows/);
  assert.notEqual(await picture(), slowest);
  await page.click('#view-ranks button:text-is("slowest")');
  assert.equal(await picture(), slowest);
  await page.selectOption("#view-ranks select >> nth=1", "host");
  await page.focus("#view-ranks canvas");
  for (const key of ["ArrowDown", "Home"]) await page.keyboard.press(key);
  assert.match(await page.textContent("#live"), /rank 0 on node\d+/);
  const few = await open(browser, "all-4");
  await goTo(few.page, "ranks");
  assert.equal(await few.page.isVisible('#view-ranks button:text-is("mean")'), false, "four ranks share no pixel");
  assert.deepEqual(wrong, []);
  await Promise.all([page.context().close(), few.page.context().close()]);
});
