/* Search: the same rules for terms as docs/tools/search_index.py, which makes the index. */
(function () {
  'use strict';
  const ENDINGS = ['ing', 'ed', 'es', 's', 'e'];
  const STOP = new Set(('a an and any are as at be by can do does each for from get how i in is it make me my of on or own ' +
                        'should that the there this to use using want what when where which why will with you ' +
                        '的 了 吗 呢 和 与 在 是 把 请 看 我 能 让 某 每 跑 太').split(' '));
  // words that carry no meaning for a search are taken out of a query first
  const IDLE = new RegExp('如何|怎么样|怎么办|怎么|怎样|为什么|什么|哪里|有没有|是否|可以|能不能|能否|需要|应该|自己|一个|某一|' +
                          '每个|请问|想要|[的了吗呢把我让给被]');

  function stem(word) {
    word = word.toLowerCase();
    for (const ending of ENDINGS) {
      if (word.endsWith(ending) && word.length - ending.length >= 3) return word.slice(0, -ending.length);
    }
    return word;
  }

  function terms(text) {
    const found = [];
    for (const run of text.match(/[\u3400-\u9fff]+|[A-Za-z0-9_]+(?:\+\+)?/g) || []) {
      if (run[0] >= '\u3400') {
        for (const part of run.split(IDLE)) {
          if (part.length === 1 && !STOP.has(part)) found.push(part);
          for (let i = 0; i + 1 < part.length; i++) found.push(part.slice(i, i + 2));
        }
        continue;
      }
      const parts = run.match(/[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+/g) || [];
      for (const word of [run].concat(parts.length > 1 ? parts : [])) {
        if (!STOP.has(word.toLowerCase()) && word.length > 1) found.push(stem(word));
      }
    }
    return [...new Set(found)];
  }

  function search(query, data) {
    const wanted = terms(query);
    const scores = new Map(), matched = new Map();              // of a page: its score, the weight of terms in it
    const rarity = new Map();                                   // of a term of the query
    let all = 0;
    for (const term of wanted) {
      let list = data.terms[term] || [];
      let factor = 1;
      if (!list.length && /^[a-z0-9_]{3,}$/.test(term)) {         // the beginning of a longer word
        factor = 0.5;
        const longer = Object.keys(data.terms).filter(t => t.startsWith(term)).slice(0, 20);
        list = longer.flatMap(t => data.terms[t]);
      }
      const idf = Math.log(1 + data.pages.length / (1 + list.length / 2));
      all += idf;
      rarity.set(term, idf);
      const seen = new Set();
      for (let i = 0; i < list.length; i += 2) {
        const page = list[i], weight = list[i + 1];
        scores.set(page, (scores.get(page) || 0) + factor * idf * weight / (weight + 8));
        if (!seen.has(page)) {
          seen.add(page);
          matched.set(page, (matched.get(page) || 0) + idf * Math.min(1, weight / 4));   // one mention in a text is little
        }
      }
    }
    const plain = text => text.toLowerCase().replace(/[\s,，、/_-]+/g, '');
    const phrase = plain(query);
    // the part of the query that is a keyword with all of its words: "stop gradient" of "how to stop gradient flow"
    function covered(words) {
      const own = terms(words);
      if (!own.length || own.some(term => !rarity.has(term))) return 0;
      return own.reduce((sum, term) => sum + rarity.get(term), 0) / all;
    }
    const results = [];
    for (const [number, score] of scores) {
      const [address, title, summary, kind, keywords, headings] = data.pages[number];
      const share = matched.get(number) / all;
      let total = score * kind * share * share;
      const phrases = keywords.split(/[,，、]\s*/).filter(words => words.trim());
      if (plain(title) === phrase || phrases.some(words => plain(words) === phrase)) total *= 4;
      else if (plain(title).includes(phrase)) total *= 2;
      else total *= 1 + Math.max(0, ...phrases.map(words => covered(words))) ** 2;
      let best = null, bestCount = 0;
      for (const [heading, anchor] of headings) {
        if (heading === query.trim()) total *= 3;                  // the exact name of an operator or class
        const own = new Set(terms(heading));
        const count = wanted.filter(term => own.has(term)).length + (plain(heading).includes(phrase) ? 1 : 0);
        if (count > bestCount) { best = [heading, anchor]; bestCount = count; }
      }
      results.push({address, title, summary, best, total});
    }
    return results.sort((a, b) => b.total - a.total || (a.address < b.address ? -1 : 1)).slice(0, 30);
  }

  function show() {
    const place = document.getElementById('search-results');
    const query = new URLSearchParams(location.search).get('q') || '';
    for (const input of document.querySelectorAll('input[name=q]')) input.value = query;
    if (!query.trim()) return;
    const results = search(query, window.searchData);
    const summary = document.createElement('p');
    summary.textContent = (results.length ? place.dataset.found : place.dataset.none)
      .replace('{n}', results.length).replace('{q}', query);
    place.append(summary);
    const list = document.createElement('ul');
    list.className = 'search';
    for (const result of results) {
      const item = document.createElement('li');
      const link = document.createElement('a');
      link.href = result.address;
      link.textContent = result.title;
      item.append(link);
      if (result.best) {
        const section = document.createElement('a');
        section.href = result.address + '#' + result.best[1];
        section.textContent = result.best[0];
        item.append(' › ', section);
      }
      const text = document.createElement('div');
      text.className = 'search-summary';
      text.textContent = result.summary;
      item.append(text);
      list.append(item);
    }
    place.append(list);
  }

  window.remxSearch = search;
  if (document.getElementById('search-results')) show();
}());
